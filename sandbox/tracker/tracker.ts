import { systemClock } from '#shared/clock.ts';
import { newUuid } from '#shared/ids.ts';
import { createAppTokens } from './api/callers/app-tokens.ts';
import { assignableLogins } from './api/callers/caller.ts';
import { createCallLog } from '../instruments/call-log.ts';
import { fieldValueRoutes } from './api/routes/field-values.ts';
import { commentRoutes } from './api/routes/comments.ts';
import { createControlRoutes } from '../instruments/control-routes.ts';
import { createControls } from '../instruments/controls.ts';
import { createExchange } from '../instruments/exchange.ts';
import { createFaults, type Fault, seededRandom } from '../instruments/faults.ts';
import { type BarrierMatch, createBarriers } from '../instruments/barriers.ts';
import { createHooks } from './hooks/hooks.ts';
import { payloadOf } from './hooks/hook-payload.ts';
import type { TrackerChange } from './world/model.ts';
import type { TrackerRequest } from './api/route.ts';
import { appHookConfig, appHookDeliveries, hookRoutes } from './api/routes/hooks.ts';
import { startServer } from './api/http-server.ts';
import { issueRoutes } from './api/routes/issues.ts';
import { labelRoutes } from './api/routes/labels.ts';
import { respondWithPage } from './api/routes/page.ts';
import { createQuota, type QuotaState } from './api/callers/quota.ts';
import { repositoryRoutes } from './api/routes/repository.ts';
import { respond } from './api/respond.ts';
import type { Responder } from './api/responder.ts';
import type { Tracker, TrackerOptions } from './tracker-api.ts';
import { accountOf, createRepository, createWorld } from './world/world.ts';

export const SANDBOX_ADMIN_TOKEN = 'sandbox-admin-token';

type Resolved = Required<Omit<TrackerOptions, 'app'>> & Pick<TrackerOptions, 'app'>;

const DEFAULTS: Omit<Resolved, 'app'> = {
  repository: 'acme/leads',
  port: 0,
  tokens: [{ token: SANDBOX_ADMIN_TOKEN, can: 'admin' }],
  webhooks: [],
  latencyMs: 0,
  quota: 5000,
  pageWall: 1000,
  replicaLagMs: 0,
  seed: 1,
  clock: systemClock,
  newId: newUuid,
};

/** Starts a tracker on 127.0.0.1; no other address is possible. */
export async function startTracker(options: TrackerOptions = {}): Promise<Tracker> {
  const resolved: Resolved = { ...DEFAULTS, ...options };
  const machine = createMachine(resolved);
  const { world, repository } = machine;
  const server = await startServer(
    {
      clock: world.clock,
      exchange: createExchange({
        ...machine,
        clock: world.clock,
        respond: (request, how) => respond(machine.responder, request, how),
      }),
      respondAside: (request) =>
        respondWithPage({ world, repository }, request) ?? respondToControl(request),
    },
    resolved.port,
  );
  world.origin = `http://127.0.0.1:${server.port}`;
  const tracker: Tracker = {
    ...createControls({ world, repository, by: accountOf(world, 'octo-operator') }),
    ...machineControls(machine),
    url: world.origin,
    repository: resolved.repository,
    close: async () => {
      machine.barriers.openAll();
      await machine.hooks.stop();
      await server.close();
    },
  };
  const respondToControl = createControlRoutes(tracker);
  for (const target of resolved.webhooks) machine.hooks.add(target);
  return tracker;
}

/** A tracker that listens nowhere: whoever made it gives it the requests, and takes care that they are answered. */
export function createTracker(options: TrackerOptions = {}) {
  const resolved: Resolved = { ...DEFAULTS, ...options };
  const { world, repository, responder } = createMachine(resolved);
  return {
    ...createControls({ world, repository, by: accountOf(world, 'octo-operator') }),
    /** Every change, with the webhook's payload of it. */
    onChange: (listen: (change: TrackerChange, payload: () => object) => void) =>
      void world.listeners.push((change) => listen(change, () => payloadOf(world, change))),
    respond: (request: TrackerRequest, how: { dropLabels: boolean }) =>
      respond(responder, request, how),
    setQuota: (patch: Partial<QuotaState>) => responder.quota.set(patch),
    world,
  };
}

type Machine = ReturnType<typeof createMachine>;

function createMachine(options: Resolved) {
  const { clock } = options;
  const world = createWorld(options);
  const repository = createRepository(world, options.repository);
  const hooks = createHooks(world, repository);
  const assignable = assignableLogins(options.tokens);
  const responder: Responder = {
    world,
    tokens: new Map(options.tokens.map((grant) => [grant.token, grant])),
    apps: createAppTokens(world, options.app),
    quota: createQuota(clock, options.quota),
    routes: [
      ...issueRoutes(options.pageWall, assignable),
      ...labelRoutes,
      ...commentRoutes,
      ...fieldValueRoutes,
      ...repositoryRoutes(assignable),
      ...hookRoutes(hooks),
    ],
    appHook: {
      config: () => appHookConfig(hooks),
      deliveries: (request) => appHookDeliveries(hooks, repository, request),
    },
    memo: { version: 0, responses: new Map() },
  };
  return {
    world,
    repository,
    responder,
    faults: createFaults(seededRandom(options.seed)),
    barriers: createBarriers(),
    calls: createCallLog(clock),
    hooks,
    latency: { ms: options.latencyMs },
  };
}

function machineControls({ calls, faults, barriers, hooks, latency, responder }: Machine) {
  return {
    calls,
    hooks,
    addWebhook: (url: string, secret: string) => void hooks.add({ url, secret }),
    fault: (fault: Fault) => faults.add(fault),
    clearFaults: () => faults.clear(),
    hold: (match?: BarrierMatch) => barriers.hold(match),
    setQuota: (patch: Partial<QuotaState>) => responder.quota.set(patch),
    setLatency: (ms: number) => {
      latency.ms = ms;
    },
    suspendInstallation: (id: number, isSuspended: boolean) =>
      responder.apps.suspend(id, isSuspended),
    revokeInstallationTokens: () => responder.apps.revokeTokens(),
  };
}

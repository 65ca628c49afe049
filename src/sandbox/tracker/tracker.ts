import type { Clock } from '#shared/clock.ts';
import { systemClock } from '#shared/clock.ts';
import type { NewId } from '#shared/ids.ts';
import { newUuid } from '#shared/ids.ts';
import type { AppGrant } from './app-desk.ts';
import { createAppDesk } from './app-desk.ts';
import type { CallLog } from './call-log.ts';
import { createCallLog } from './call-log.ts';
import type { TokenGrant } from './caller.ts';
import { commentRoutes } from './comment-routes.ts';
import type { Controls } from './controls.ts';
import { createControls } from './controls.ts';
import type { Fault } from './faults.ts';
import { createFaults, seededRandom } from './faults.ts';
import type { Gate, GateMatch } from './gates.ts';
import { createGates } from './gates.ts';
import type { Hooks, HookTarget } from './hooks.ts';
import { createHooks } from './hooks.ts';
import { listenOnLoopback } from './http-server.ts';
import { issueRoutes } from './issue-routes.ts';
import { labelRoutes } from './label-routes.ts';
import type { QuotaState } from './quota.ts';
import { createQuota } from './quota.ts';
import { repositoryRoutes } from './repository-routes.ts';
import type { Responder } from './respond.ts';
import { respond } from './respond.ts';
import { accountOf, createRepository, createWorld } from './world.ts';

export type TrackerOptions = {
  /** `owner/name`; default `acme/leads`. */
  repository?: string;
  /** Default 0: any free port, always on 127.0.0.1. */
  port?: number;
  /** Default: `sandbox-admin-token`, which may do everything. */
  tokens?: readonly TokenGrant[];
  app?: AppGrant;
  webhooks?: readonly HookTarget[];
  /** Real milliseconds that every answer takes at least; default 0. */
  latencyMs?: number;
  /** Requests an hour and user; default 5,000. */
  quota?: number;
  /** Rows up to which `page` is served without a cursor; default 1,000. */
  pageWall?: number;
  /** How long a read does not see a write; default 0. Counted by `clock`. */
  replicaLagMs?: number;
  /** Seed of faults by chance; default 1. */
  seed?: number;
  clock?: Clock;
  newId?: NewId;
};

/** A GitHub-compatible tracker on a loopback port, with its controls. */
export type Tracker = Controls & {
  /** `http://127.0.0.1:port`: the API's root. */
  readonly url: string;
  readonly repository: string;
  readonly calls: CallLog;
  readonly hooks: Hooks;
  addWebhook(url: string, secret: string): void;
  /** Arms a fault; default for the next matching request only. */
  fault(fault: Fault): void;
  clearFaults(): void;
  /** Holds matching answers back until the gate opens. */
  hold(match?: GateMatch): Gate;
  setQuota(patch: Partial<QuotaState>): void;
  setLatency(ms: number): void;
  suspendInstallation(id: number, isSuspended: boolean): void;
  revokeInstallationTokens(): void;
  /** Lets deliveries under way finish, then stops listening. */
  close(): Promise<void>;
};

export const SANDBOX_ADMIN_TOKEN = 'sandbox-admin-token';

/** Starts a tracker. It refuses every address but 127.0.0.1. */
export async function startTracker(options: TrackerOptions = {}): Promise<Tracker> {
  const { clock = systemClock, newId = newUuid, replicaLagMs = 0 } = options;
  const world = createWorld({ clock, newId, replicaLagMs });
  const repository = createRepository(world, options.repository ?? 'acme/leads');
  const by = accountOf(world, 'octo-operator');
  const tokens = options.tokens ?? [{ token: SANDBOX_ADMIN_TOKEN, can: 'admin' as const }];
  const responder: Responder = {
    world,
    tokens: new Map(tokens.map((grant) => [grant.token, grant])),
    apps: createAppDesk(world, options.app),
    quota: createQuota(clock, options.quota ?? 5000),
    routes: [
      ...issueRoutes(options.pageWall ?? 1000),
      ...labelRoutes,
      ...commentRoutes,
      ...repositoryRoutes,
    ],
    memo: { version: 0, answers: new Map() },
  };
  const faults = createFaults(seededRandom(options.seed ?? 1));
  const gates = createGates();
  const calls = createCallLog();
  let latencyMs = options.latencyMs ?? 0;
  const server = await listenOnLoopback(
    {
      faults,
      gates,
      calls,
      now: () => clock.now(),
      latencyMs: () => latencyMs,
      respond: (request, how) => respond(responder, request, how),
      answerAside: () => undefined,
    },
    options.port ?? 0,
  );
  world.origin = `http://127.0.0.1:${server.port}`;
  const hooks = createHooks(world, repository);
  for (const target of options.webhooks ?? []) hooks.add(target);
  return {
    ...createControls({ world, repository, by }),
    url: world.origin,
    repository: options.repository ?? 'acme/leads',
    calls,
    hooks,
    addWebhook: (url, secret) => void hooks.add({ url, secret }),
    fault: (fault) => faults.add(fault),
    clearFaults: () => faults.clear(),
    hold: (match) => gates.hold(match),
    setQuota: (patch) => responder.quota.set(patch),
    setLatency: (ms) => {
      latencyMs = ms;
    },
    suspendInstallation: (id, isSuspended) => responder.apps.suspend(id, isSuspended),
    revokeInstallationTokens: () => responder.apps.revokeTokens(),
    close: async () => {
      gates.openAll();
      await hooks.settled();
      await server.close();
    },
  };
}

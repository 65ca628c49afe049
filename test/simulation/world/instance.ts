import { Registry } from 'prom-client';
import { grantedLabels } from '#access/grant.ts';
import { createWorkerLease } from '#partners/worker/background-work.ts';
import type { Config } from '#config/schema/schema.ts';
import { createChangeLog, createInstanceChanges } from '#leads/instance-changes.ts';
import type { Visibility } from '#leads/model/lead-query.ts';
import { systemClock } from '#shared/clock.ts';
import { silentLog } from '#shared/log.ts';
import { createReloadable } from '#config/reload.ts';
import { type App, createApp } from '#compose/app.ts';
import { createStore } from '#compose/store.ts';
import type { EngineWorld } from './engine.ts';
import type { Owner } from './scheduler.ts';
import type { SimulatedStore } from './store.ts';

const SECRET_KEY = Buffer.alloc(32, 7);

type InstanceWorld = EngineWorld & {
  config: Config;
  store: SimulatedStore;
  /** The process has ended, or was ended. */
  onEnd: (cause: string) => void;
};

/** An instance of the service, made by the composition of production, without the HTTP in front of it. */
export type Instance = {
  owner: Owner;
  /** The newest of each issue that webhooks told it of. */
  learnt: Map<number, Learnt>;
  /** Undefined until it serves. */
  served: Served | undefined;
  /** Calls it from outside. Rejects when it is cut off before it has answered. */
  call<T>(work: (served: Served) => Promise<T>): Promise<T>;
  /** Ends it at this instant, for good. What waits there waits for ever. */
  cut(): void;
  /** The same, and somebody starts another one. */
  end(cause: string): void;
};

type Learnt = { updatedAt: number; isApproved: boolean; step: number };

export type Served = {
  parts: App;
  visibilityOf: (key: string) => Promise<Visibility>;
};

export class CutOff extends Error {}

/** Starts one; it serves a while later. */
export function startInstance(name: string, deps: InstanceWorld): Instance {
  const { scheduler, config, store: given, onEnd } = deps;
  const owner: Owner = { name, isCut: false };
  const engine = given.open(owner, deps);
  const calls = new Set<(error: Error) => void>();
  const instance: Instance = {
    owner,
    learnt: new Map(),
    served: undefined,
    call: (work) =>
      new Promise((resolve, reject) => {
        const { served } = instance;
        if (owner.isCut || !served) return reject(new CutOff());
        calls.add(reject);
        const settled = scheduler.as(owner, async () => work(served));
        void settled.then(resolve, reject).finally(() => calls.delete(reject));
      }),
    cut: () => {
      if (owner.isCut) return;
      owner.isCut = true;
      engine.cut();
      for (const reject of calls) reject(new CutOff());
    },
    end: (cause) => {
      instance.cut();
      onEnd(cause);
    },
  };
  const serve = async (): Promise<void> => {
    const { database } = engine;
    const store = createStore(
      {
        database,
        search: given.search,
        workerLease: (id) => createWorkerLease({ database, instance: id, clock: systemClock }),
        instanceChanges: (instanceId) =>
          createInstanceChanges({
            changes: createChangeLog(database, { instanceId }),
            clock: systemClock,
            log: silentLog,
          }),
        migrated: [],
        close: async () => {},
      },
      { repository: config.tracker.repository, secretKey: SECRET_KEY, clock: systemClock },
    );
    const parts = await createApp(
      {
        config,
        settings: createReloadable(config),
        clock: systemClock,
        log: silentLog,
        registry: new Registry(),
        tracing: undefined,
        store,
        cleanup: new AsyncDisposableStack(),
      },
      new AbortController().signal,
    );
    await parts.leads.followOthers();
    await parts.partners.start();
    instance.served = {
      parts,
      visibilityOf: async (key) => {
        const { consumerId, grants } = await parts.access.authenticate(key);
        return { consumerId, labels: grantedLabels(grants) };
      },
    };
  };
  scheduler.as(owner, () => void serve().catch((error: unknown) => instance.end(String(error))));
  return instance;
}

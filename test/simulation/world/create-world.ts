import type { Config } from '#config/schema/schema.ts';
import { REDACTED_TITLE } from '#partners/worker/act/issue-edit.ts';
import type { TrackerChange } from '#sandbox/tracker/world/model.ts';
import { createCallCheck } from '../invariants/calls.ts';
import { createCommitCheck } from '../invariants/commit.ts';
import { createModel, isApproved, wholeSeconds } from '../model.ts';
import { CutOff, startInstance } from './instance.ts';
import type { Scheduler } from './scheduler.ts';
import type { SimulatedStore } from './store.ts';
import { type Call, startTracker } from './tracker.ts';
import { calm, drawFate, type Weather } from './weather.ts';
import { deliver } from './webhooks.ts';
import type { World } from './world.ts';

const ISSUES = '/repos/acme/leads/issues';

export type WorldOptions = { config: Config; store: SimulatedStore; instances: number };

export function createWorld(
  scheduler: Scheduler,
  random: () => number,
  options: WorldOptions,
): World {
  const { config, store } = options;
  const model = createModel();
  const weather: Weather = { ...calm };
  const chance = (share: number): boolean => share > 0 && scheduler.random() < share;
  const delayMs = (): number =>
    chance(weather.delayed) ? Math.floor(scheduler.random() * weather.delayMs) : 0;
  const replicaLagMs = random() < 0.3 ? 1000 + Math.floor(random() * 4000) : 0;
  model.hasLag = replicaLagMs > 0;
  const tracker = startTracker(
    scheduler,
    { delayMs: () => 1 + delayMs(), fate: () => drawFate(weather, scheduler.random) },
    { replicaLagMs },
  );
  for (const name of ['approved', 'deleted', 'eu', 'us', 'qualified', 'won'])
    tracker.createLabel({ name });
  const engine = {
    faults: {
      delayMs,
      onCommit: () =>
        chance(weather.full) ? 'full' : chance(weather.lostCommit) ? 'lost' : 'done',
    },
  } as const;
  let isClosed = false;
  const world: World = {
    scheduler,
    random,
    weather,
    model,
    tracker,
    inspector: store.inspector,
    store,
    instances: [],
    violations: [],
    isOver: false,
    violate: (what) => {
      if (isClosed) return;
      scheduler.note(`VIOLATION: ${what}`);
      world.violations.push(what);
    },
    tell: (what) => scheduler.note(`          ${what}`),
    pause: (ms) => new Promise((resolve) => void setTimeout(resolve, ms)),
    pick: (list) => list[Math.floor(random() * list.length)],
    call: async (work) => {
      const ready = world.instances.filter(({ owner, served }) => served && !owner.isCut);
      const instance = ready[Math.floor(scheduler.random() * ready.length)];
      if (!instance) throw new CutOff();
      return instance.call((served) => work(served, instance));
    },
    close: () => {
      isClosed = true;
      for (const instance of world.instances) instance.cut();
    },
  };
  const checkCommit = createCommitCheck(world);
  const start = (place: number, life: number): void => {
    const name = `instance ${'ABC'[place]}${life}`;
    const instance = startInstance(name, {
      scheduler,
      config,
      store,
      ...engine,
      onCommit: checkCommit,
      onEnd: (cause) => {
        world.tell(`${name} ends: ${cause}`);
        const delay = weather === calm ? 0 : Math.floor(scheduler.random() * 5000);
        scheduler.add({
          owner: scheduler.outside,
          lane: `start of ${name}`,
          what: `${name} is started again`,
          at: scheduler.nowMs() + delay,
          run: () => start(place, life + 1),
        });
      },
    });
    world.instances[place] = instance;
  };
  for (let place = 0; place < options.instances; place += 1) start(place, 1);
  tracker.onCall(createCallCheck(world));
  tracker.onCall((call) => noteRead(world, call));
  tracker.onChange((change, payload) => {
    noteTruth(world, change);
    deliver(world, change, payload());
  });
  return world;
}

/** Notes of which leads an instance may hold the state of this moment, and meet it later than one that follows. */
function noteRead({ model }: World, { request: { method, path } }: Call): void {
  if (method !== 'GET') return;
  for (const { number, state } of model.leads.values())
    if (path === ISSUES || path === `${ISSUES}/${number}`) state.wasTold = true;
}

/** The model takes over the tracker's state, whoever changed it. */
function noteTruth(
  { model, scheduler }: World,
  { action, issue, repository }: TrackerChange,
): void {
  model.changedAtMs = scheduler.nowMs();
  const lead = issue && model.leads.get(issue.number);
  if (!lead || repository.name !== 'leads') return;
  if (action === 'deleted' || action === 'transferred') lead.isGone = true;
  const second = wholeSeconds(scheduler.now());
  lead.wasToldBack ||= lead.state.wasTold && lead.state.second === second;
  lead.state = { second, wasTold: false };
  lead.wasLabelled ||= issue.labels.some(({ name }) => name === 'deleted');
  lead.wasClosed ||= issue.state === 'closed';
  lead.wasRedacted ||= issue.title === REDACTED_TITLE;
  if (!isApproved(issue) || lead.isGone) lead.approvedSince = undefined;
  else lead.approvedSince ??= scheduler.now();
}

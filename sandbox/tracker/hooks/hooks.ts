import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND } from '#shared/clock.ts';
import { accountDocument } from '../api/documents/issues.ts';
import { type Delivery, eventsOf, type Hook, hookDocument, type HookTarget } from './hook.ts';
import { payloadOf } from './hook-payload.ts';
import type { Repository, TrackerChange, World } from '../world/model.ts';
import { repositoryDocument } from '../api/documents/repository.ts';
import { nextId } from '../world/world.ts';

export type Hooks = {
  /** Sends `ping` and, from now on, every change that the hook subscribes to. */
  add(target: HookTarget): number;
  /** In the order in which they were added. */
  readonly all: readonly Readonly<Hook>[];
  /** The last 1,000, oldest first. */
  readonly deliveries: readonly Delivery[];
  /** Keeps deliveries back until `release`. */
  hold(): void;
  /** Sends what was held back, one after the other; default in the order of the changes. */
  release(order?: 'in-order' | 'reverse'): Promise<void>;
  /** Loses the next deliveries: they are listed, but never leave. */
  drop(count: number): void;
  /** Real milliseconds that every delivery is late. */
  delay(ms: number): void;
  /** Sends a delivery again under its old GUID, as a person can within three days. */
  redeliver(guid: string): Promise<void>;
  /** Resolves when nothing is under way. */
  settled(): Promise<void>;
  /** Lets what is under way arrive, for two seconds at most; late deliveries do not leave any more. */
  stop(): Promise<void>;
};

type State = {
  world: World;
  repository: Repository;
  hooks: Hook[];
  deliveries: Delivery[];
  held: Delivery[] | undefined;
  dropping: number;
  delayMs: number;
  underWay: Set<Promise<void>>;
  triesMade: number;
  slots: { free: number; waiting: (() => void)[] };
  /** Aborts what waits to leave, then what is on its way. */
  closing: { late: AbortController; sent: AbortController };
};

const DELIVERIES_MAX = 1000;
const PARALLEL_MAX = 8;
const ANSWER_WITHIN_MS = 10_000;
const DRAIN_MS = 2000;

export function createHooks(world: World, repository: Repository): Hooks {
  const state: State = {
    world,
    repository,
    hooks: [],
    deliveries: [],
    held: undefined,
    dropping: 0,
    delayMs: 0,
    underWay: new Set(),
    triesMade: 0,
    slots: { free: PARALLEL_MAX, waiting: [] },
    closing: { late: new AbortController(), sent: new AbortController() },
  };
  world.listeners.push((change) => deliverChange(state, change));
  return {
    add: (target) => addHook(state, target),
    all: state.hooks,
    deliveries: state.deliveries,
    hold: () => {
      state.held ??= [];
    },
    release: (order = 'in-order') => release(state, order),
    drop: (count) => {
      state.dropping += count;
    },
    delay: (ms) => {
      state.delayMs = ms;
    },
    redeliver: (guid) => redeliver(state, guid),
    settled: () => settled(state),
    stop: () => stop(state),
  };
}

function addHook(state: State, target: HookTarget): number {
  const { world, repository } = state;
  const hook = { ...target, id: nextId(world) };
  state.hooks.push(hook);
  const body = {
    zen: 'Anything added dilutes everything else.',
    hook_id: hook.id,
    hook: hookDocument(world, repository, hook),
    repository: repositoryDocument(world, repository),
    sender: accountDocument(world, repository.owner),
  };
  dispatch(state, hook, { event: 'ping', body: JSON.stringify(body) });
  return hook.id;
}

function deliverChange(state: State, change: TrackerChange): void {
  if (change.repository !== state.repository) return;
  const hooks = state.hooks.filter(
    (hook) => hook.isActive !== false && eventsOf(hook).includes(change.event),
  );
  if (hooks.length === 0) return;
  const body = JSON.stringify(payloadOf(state.world, change));
  for (const hook of hooks)
    dispatch(state, hook, { event: change.event, action: change.action, body });
}

function dispatch(
  state: State,
  hook: Hook,
  what: Pick<Delivery, 'event' | 'action' | 'body'>,
): void {
  const delivery = { ...what, guid: state.world.newId(), hookId: hook.id, statuses: [], tries: [] };
  state.deliveries.push(delivery);
  if (state.deliveries.length > DELIVERIES_MAX) state.deliveries.shift();
  if (state.dropping > 0) state.dropping -= 1;
  else if (state.held) state.held.push(delivery);
  else void send(state, delivery);
}

async function release(state: State, order: 'in-order' | 'reverse'): Promise<void> {
  const held = state.held ?? [];
  state.held = undefined;
  if (order === 'reverse') held.reverse();
  for (const delivery of held) await send(state, delivery);
}

async function redeliver(state: State, guid: string): Promise<void> {
  const delivery = state.deliveries.find((item) => item.guid === guid);
  if (!delivery) throw new Error(`no delivery ${guid}`);
  await send(state, delivery);
}

function send(state: State, delivery: Delivery): Promise<void> {
  const sending = post(state, delivery).finally(() => state.underWay.delete(sending));
  state.underWay.add(sending);
  return sending;
}

async function post(state: State, delivery: Delivery): Promise<void> {
  const hook = state.hooks.find(({ id }) => id === delivery.hookId);
  if (!hook) return;
  const { clock } = state.world;
  const startMs = clock.monotonicMs();
  try {
    if (state.delayMs > 0) await sleep(state.delayMs, undefined, state.closing.late);
    delivery.statuses.push(await inSlot(state.slots, () => postOnce(state, hook, delivery)));
  } catch {
    delivery.statuses.push(0); // the real tracker does not try again either
  }
  const seconds = (clock.monotonicMs() - startMs) / SECOND;
  state.triesMade += 1;
  delivery.tries.push({ id: state.triesMade, at: clock.now(), seconds });
}

async function postOnce(state: State, hook: Hook, delivery: Delivery): Promise<number> {
  const response = await fetch(hook.url, {
    method: 'POST',
    headers: headersOf(state, hook, delivery),
    body: bodyFor(hook, delivery),
    redirect: 'manual',
    signal: AbortSignal.any([AbortSignal.timeout(ANSWER_WITHIN_MS), state.closing.sent.signal]),
  });
  await response.arrayBuffer();
  return response.status;
}

/** Not more than so many at once, the others in their order. */
async function inSlot<T>(slots: State['slots'], work: () => Promise<T>): Promise<T> {
  if (slots.free > 0) slots.free -= 1;
  else await new Promise<void>((resolve) => slots.waiting.push(resolve));
  try {
    return await work();
  } finally {
    const next = slots.waiting.shift();
    if (next) next();
    else slots.free += 1;
  }
}

function headersOf(state: State, hook: Hook, delivery: Delivery): Record<string, string> {
  const sign = (algorithm: string): string =>
    createHmac(algorithm, hook.secret).update(bodyFor(hook, delivery)).digest('hex');
  return {
    accept: '*/*',
    'content-type':
      hook.contentType === 'form' ? 'application/x-www-form-urlencoded' : 'application/json',
    'user-agent': 'GitHub-Hookshot/5a4d5ab',
    'x-github-delivery': delivery.guid,
    'x-github-event': delivery.event,
    'x-github-hook-id': String(hook.id),
    'x-github-hook-installation-target-id': String(state.repository.id),
    'x-github-hook-installation-target-type': 'repository',
    ...(hook.secret !== '' && {
      'x-hub-signature': `sha1=${sign('sha1')}`,
      'x-hub-signature-256': `sha256=${sign('sha256')}`,
    }),
  };
}

/** Exactly the bytes that are signed and sent. */
function bodyFor(hook: Hook, { body }: Delivery): string {
  return hook.contentType === 'form' ? `payload=${encodeURIComponent(body)}` : body;
}

async function stop(state: State): Promise<void> {
  state.closing.late.abort();
  const impatience = setTimeout(() => state.closing.sent.abort(), DRAIN_MS);
  await settled(state);
  clearTimeout(impatience);
}

async function settled(state: State): Promise<void> {
  while (state.underWay.size > 0) await Promise.allSettled(state.underWay);
}

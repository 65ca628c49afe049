import { isDeepStrictEqual } from 'node:util';
import type { FeedItem } from '#leads/lead-feed/feed-item.ts';
import type { Lead } from '#leads/model/lead-out.ts';
import { isTrackportError } from '#shared/errors.ts';
import { SECOND } from '#shared/clock.ts';
import { checkShown } from '../invariants/answers.ts';
import { expectedIn } from '../invariants/walks.ts';
import { CutOff, type Instance } from '../world/instance.ts';
import type { World } from '../world/world.ts';

/** A sales tool: it keeps a copy by the feed, and reads lists and leads at times. */
export type Tool = {
  name: string;
  consumerId: string | undefined;
  key: string;
  cursor: string | undefined;
  copy: Map<string, Lead>;
  /** It went back to an older cursor at some time. */
  wentBack: boolean;
};

export function createTool(name: string): Tool {
  return {
    name,
    consumerId: undefined,
    key: '',
    cursor: undefined,
    copy: new Map(),
    wentBack: false,
  };
}

/** Until it is there: a store may be away at the beginning. */
async function register(
  world: World,
  tool: Tool,
  labels: readonly string[] | undefined,
): Promise<void> {
  const grants = [{ action: 'leads:read' as const, ...(labels && { labels: [...labels] }) }];
  const origin = { actor: { kind: 'cli' as const, subject: 'operator' } };
  while (tool.consumerId === undefined)
    try {
      const made = await world.call(({ parts }) =>
        parts.access.consumers.create(
          { name: `${tool.name} ${world.scheduler.steps()}`, grants },
          origin,
        ),
      );
      tool.key = made.issued.key.reveal();
      tool.consumerId = made.consumer.id;
    } catch {
      await world.pause(500);
    }
}

export async function beTool(world: World, tool: Tool, pauseMs: number): Promise<void> {
  const draw = world.random();
  await register(world, tool, draw < 0.3 ? ['eu'] : draw < 0.4 ? ['us'] : undefined);
  while (!world.isOver) {
    await world.pause(world.random() * pauseMs);
    const act = world.random();
    const work =
      act < 0.45
        ? follow(world, tool, { limit: drawLimit(world), waitMs: act < 0.2 ? 20 * SECOND : 0 })
        : act < 0.6
          ? listen(world, tool)
          : act < 0.85
            ? walk(world, tool)
            : readOne(world, tool);
    await work.catch((error: unknown) => refuseStrange(world, tool, error));
  }
}

const EXCUSES = [
  'store-unavailable',
  'tracker-unavailable',
  'tracker-failed',
  'unauthorized',
  'quota-exceeded',
  'overloaded',
] as const;

function refuseStrange(world: World, tool: Tool, error: unknown): void {
  if (error instanceof CutOff || EXCUSES.some((code) => isTrackportError(error, code))) return;
  // A grant that was changed ends cursors.
  if (isTrackportError(error, 'cursor-expired') || isTrackportError(error, 'invalid-cursor')) {
    tool.cursor = undefined;
    tool.copy = new Map();
    return;
  }
  if (isTrackportError(error, 'lead-not-found')) return;
  world.violate(
    `${tool.name} got ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  );
}

/** One page of the feed into the copy. Returns whether there is more. */
export async function follow(
  world: World,
  tool: Tool,
  { limit, waitMs }: { limit: number; waitMs: number },
): Promise<boolean> {
  const since = world.scheduler.steps();
  const isNew = tool.cursor === undefined;
  const { page, instance } = await world.call(async ({ parts, visibilityOf }, answering) => {
    const visibility = await visibilityOf(tool.key);
    if (waitMs > 0) world.tell(`${tool.name} waits at ${answering.owner.name}`);
    const { signal } = new AbortController();
    return {
      page: await parts.leads.leadFeed.read(queryOf(tool, limit), visibility, { waitMs, signal }),
      instance: answering,
    };
  });
  if (isNew) tool.copy = new Map();
  const { items, pagination } = page;
  take(world, tool, { items, instance, since });
  if (world.random() < 0.05 && !isNew) tool.wentBack = true;
  else tool.cursor = pagination.nextCursor;
  // The tracker does not show it yet.
  if (pagination.hasMore && items.length === 0) await world.pause(SECOND);
  return pagination.hasMore;
}

/** Some events of a stream into the copy, then it hangs up. */
async function listen(world: World, tool: Tool): Promise<void> {
  const { scheduler } = world;
  await world.call(async ({ parts, visibilityOf }, instance) => {
    const visibility = await visibilityOf(tool.key);
    const query = queryOf(tool, drawLimit(world));
    if (tool.cursor === undefined) tool.copy = new Map();
    world.tell(`${tool.name} listens at ${instance.owner.name}`);
    let left = 1 + Math.floor(world.random() * 15);
    // Events of one step of the feed come in one step of the history: they were read since the one before.
    let since = scheduler.steps();
    let last = since;
    const wait = { waitMs: HEARTBEAT_MS, signal: new AbortController().signal };
    for await (const { item, cursor } of parts.leads.leadFeed.follow(query, visibility, wait)) {
      if (world.isOver) break;
      if (scheduler.steps() !== last) [since, last] = [last, scheduler.steps()];
      if (item) take(world, tool, { items: [item], instance, since });
      tool.cursor = cursor;
      left -= 1;
      if (left === 0) break;
    }
  });
}

const HEARTBEAT_MS = 5 * SECOND;

function drawLimit(world: World): number {
  return 1 + Math.floor(world.random() ** 2 * 4);
}

function queryOf({ cursor }: Tool, limit: number) {
  return { limit, fromStart: cursor === undefined, ...(cursor !== undefined && { cursor }) };
}

function take(
  world: World,
  tool: Tool,
  { items, ...shown }: { items: readonly FeedItem[]; instance: Instance; since: number },
): void {
  const changed = items.flatMap((item) => (item.type === 'lead.changed' ? [item.lead] : []));
  checkShown(world, changed, { ...shown, isStale: true });
  for (const item of items) put(world, tool, item);
  if (items.length > 0)
    world.tell(`${tool.name} is told ${items.map(({ type, id }) => `${type} ${id}`).join(', ')}`);
}

/**
 * An item that was told before is told again after a crash, and to a cursor that went back; and when it was claimed in between,
 * and given back, or met late in another state of the same second, or its label was renamed, which the tracker dates
 * nowhere: a tool that read nothing meanwhile has it as it is.
 */
function put(world: World, tool: Tool, item: FeedItem): void {
  const { copy } = tool;
  if (item.type === 'lead.removed') return void copy.delete(item.id);
  const { model } = world;
  const isQuiet = !model.hasLag && !model.wasRenamed && model.crashes === 0 && !tool.wentBack;
  const lead = model.leads.get(Number(item.id));
  const mayComeBack = lead !== undefined && (lead.claims.length > 0 || lead.wasToldBack);
  if (isQuiet && !mayComeBack && isDeepStrictEqual(copy.get(item.id), item.lead))
    world.violate(`${tool.name} was told of lead ${item.id} twice as it is`);
  copy.set(item.id, item.lead);
}

/** The whole list, page by page. */
export async function walk(
  world: World,
  tool: Tool,
): Promise<{ found: Map<string, Lead>; labels: readonly string[] }> {
  const found = new Map<string, Lead>();
  const { key } = tool;
  let labels: readonly string[] = [];
  const expected = expectedIn(world);
  const limit = 1 + Math.floor(world.random() * 5);
  for (
    let cursor: string | undefined, isFirst = true;
    isFirst || cursor !== undefined;
    isFirst = false
  ) {
    const since = world.scheduler.steps();
    const from = cursor === undefined ? { state: 'all' as const } : { cursor };
    const { list, instance } = await world.call(async ({ parts, visibilityOf }, answering) => {
      const visibility = await visibilityOf(key);
      ({ labels } = visibility);
      return {
        list: await parts.leads.reader.list({ limit, labels: [], ...from }, visibility),
        instance: answering,
      };
    });
    const { items, pagination } = list.value;
    checkShown(world, items, { instance, since, isStale: list.cache.outcome === 'stale' });
    if (pagination.hasMore && items.length < limit)
      world.violate(`a page that is not the last has ${items.length} leads of ${limit}`);
    for (const lead of items) {
      if (found.has(lead.id)) world.violate(`a walk has lead ${lead.id} twice`);
      found.set(lead.id, lead);
    }
    cursor = pagination.nextCursor;
  }
  for (const number of expected(labels))
    if (!found.has(String(number))) world.violate(`a walk of ${tool.name} lacks lead ${number}`);
  return { found, labels };
}

async function readOne(world: World, tool: Tool): Promise<void> {
  const number = world.pick([...world.model.leads.keys()]);
  if (number === undefined) return;
  const since = world.scheduler.steps();
  await world.call(async ({ parts, visibilityOf }, instance) => {
    const found = await parts.leads.reader.read(String(number), await visibilityOf(tool.key));
    checkShown(world, [found.value], { instance, since, isStale: found.cache.outcome === 'stale' });
  });
}

import { DAY, MINUTE, SECOND } from '#shared/clock.ts';
import { checkAtTheEnd } from './invariants/end.ts';
import { checkStore } from './invariants/store.ts';
import { checkWhole } from './invariants/walks.ts';
import { follow, type Tool, walk } from './people/tools.ts';
import { probe } from './probes.ts';
import type { EventRow } from './world/inspector.ts';
import type { World } from './world/world.ts';

/** Longer than the lead feed needs for what no webhook told. */
const QUIET_MS = 30 * SECOND;
/** Longer than `feedInterval`: nobody looks for what no webhook told while nobody follows. */
const CAUGHT_UP_WITHIN_MS = 25 * SECOND;
/** Longer than all tries that an event has. */
const SETTLED_WITHIN_MS = 90 * MINUTE;
const STEPS_MAX = 20_000;
const AWAKE_MS = 1500;
/** Shares of the histories. */
const PROBED = 0.3;
const A_DAY_LATER = 0.3;

/** Fair weather from now on: what is under way comes to its end, and all must be as it should. */
export async function settle(world: World, tools: readonly Tool[]): Promise<void> {
  const { scheduler, violations } = world;
  scheduler.tempo.leapMs = MINUTE;
  await untilQuiet(world);
  // The next crawl meets what the tracker dates nowhere.
  const { wasRenamed } = world.model;
  if (violations.length === 0 && !wasRenamed) await finish(world, tools, { isBeforeCrawl: true });
  if (violations.length === 0) checkStore(world);
  if (violations.length === 0 && !wasRenamed && scheduler.random() < PROBED)
    await untilDone(world, () => probe(world, tools));
  if (violations.length > 0 || (!wasRenamed && scheduler.random() > A_DAY_LATER)) return;
  // A crawl a day finds what vanished without a word.
  scheduler.leap(DAY + MINUTE);
  await untilQuiet(world);
  if (violations.length === 0) await finish(world, tools, { isBeforeCrawl: false });
  if (violations.length === 0) checkAtTheEnd(world);
}

/** Until no event waits, and nothing has changed at the tracker for a while. */
async function untilQuiet(world: World): Promise<void> {
  const { scheduler, violations, inspector, model } = world;
  const began = scheduler.nowMs();
  const waiting = (): EventRow[] =>
    inspector.events().filter(({ outcome }) => outcome === 'PENDING');
  const isQuiet = (): boolean =>
    waiting().length === 0 &&
    scheduler.nowMs() - Math.max(began, model.changedAtMs, model.renewedAtMs) > QUIET_MS;
  while (violations.length === 0) {
    // Whoever works waits for a moment only; a leap would wake all the others, too.
    const isDue = waiting().some(({ dueAt }) => (dueAt ?? 0) <= scheduler.now());
    scheduler.tempo.leap = isDue ? 0.05 : 0.95;
    await letTimePass(world, isDue ? SECOND : 5 * SECOND);
    if (scheduler.nowMs() - began > SETTLED_WITHIN_MS)
      return world.violate(`events do not end: ${JSON.stringify(waiting())}`);
    if (!isQuiet()) continue;
    // Timers that a leap has set off have something to do.
    scheduler.tempo.leap = 0;
    await letTimePass(world, AWAKE_MS);
    if (isQuiet()) return;
  }
}

async function letTimePass(world: World, ms: number): Promise<void> {
  const { scheduler, violations } = world;
  const until = scheduler.nowMs() + ms;
  while (scheduler.nowMs() < until && violations.length === 0) await goOn(world);
}

/** Every tool reads on to the end, and compares. */
async function finish(
  world: World,
  tools: readonly Tool[],
  { isBeforeCrawl }: { isBeforeCrawl: boolean },
): Promise<void> {
  const isFollowed = world.inspector.all('SELECT 1 FROM lead_feed_reader').length > 0;
  await untilDone(world, async () => {
    for (const tool of tools) {
      const before = await compare(world, tool, isBeforeCrawl);
      if (isFollowed) for (const what of before) world.violate(what);
      if (before.length === 0) continue;
      await world.pause(CAUGHT_UP_WITHIN_MS);
      for (const what of await compare(world, tool, isBeforeCrawl)) world.violate(what);
    }
  });
}

async function untilDone(world: World, work: () => Promise<void>): Promise<void> {
  const { scheduler, violations } = world;
  const end = { isReached: false };
  scheduler.as(scheduler.outside, () => {
    void work()
      .catch((error: unknown) => world.violate(`in fair weather: ${(error as Error).stack}`))
      .finally(() => {
        end.isReached = true;
      });
  });
  const until = scheduler.nowMs() + 10 * MINUTE;
  while (!end.isReached && violations.length === 0) {
    if (scheduler.nowMs() > until) return world.violate('the tools got no answer');
    await goOn(world);
  }
}

async function goOn({ scheduler, violate }: World): Promise<void> {
  await scheduler.step();
  if (scheduler.steps() > STEPS_MAX) violate('it never comes to rest');
}

/** Leads that vanished without a word are found by the next crawl. */
async function compare(world: World, tool: Tool, isBeforeCrawl: boolean): Promise<string[]> {
  const found: string[] = [];
  if (tool.consumerId === undefined) return found;
  if (tool.cursor !== undefined)
    while (await follow(world, tool, { limit: 50, waitMs: 0 }).catch(refreshed(tool)));
  while (await follow(world, tool, { limit: 50, waitMs: 0 }));
  const { found: all, labels } = await walk(world, tool);
  checkWhole(world, tool.name, { shown: [...all.keys()].map(Number), labels });
  for (const [id, lead] of all) {
    const held = tool.copy.get(id);
    if (!held) found.push(`the copy of ${tool.name} lacks lead ${id}`);
    else if (JSON.stringify(held) !== JSON.stringify(lead))
      found.push(`the copy of ${tool.name} has an old state of lead ${id}`);
  }
  for (const id of tool.copy.keys())
    if (!all.has(id) && !(isBeforeCrawl && world.model.leads.get(Number(id))?.isGone))
      found.push(`the copy of ${tool.name} holds lead ${id}, which is not shown`);
  return found;
}

/** A grant that was changed ends the cursor: the copy begins anew. */
const refreshed = (tool: Tool) => (error: unknown) => {
  if ((error as { code?: string }).code !== 'cursor-expired') throw error;
  tool.cursor = undefined;
  return false;
};

import { buildIfChanged } from '../../../scripts/build.js';
import { seededRandom } from '#sandbox/instruments/faults.ts';
import type { OnProgress } from '#shared/progress.ts';
import { scratchFolder } from '../../support/at-exit.ts';
import type { Break } from './disk/disk.ts';
import type { Child } from '../service.ts';
import { findLosses } from './losses.ts';
import { sendUntilGone } from './traffic.ts';
import { openWorld, type World } from './world.ts';

type PowerOptions = { cuts: number; seed: number; onProgress?: OnProgress };

type PowerReport = {
  powerCuts: number;
  /** Deliveries, of deletions and of events. */
  acknowledged: number;
  /** Leads that these have deleted. */
  claimed: number;
  violations: string[];
};

/** One break in three is in a checkpoint or soon after it; the others are in one of so many fsyncs of the log. */
const SHARE_OF_CHECKPOINTS = 1 / 3;
const AFTER_CHECKPOINT = 3;
const FSYNCS = 25;
const DELIVERIES_BEFORE = 30;
const DELIVERIES_MAX = 400;
/** Of these one in four deletes a lead, and about a quarter is sent before the power goes. */
const LEADS_A_CUT = 30;

/**
 * Cuts the power of the whole program under load, again and again, each time while an fsync is under way, and starts it
 * again on what the disk may hold then: what no fsync has written is lost, there in part, or torn. All that was
 * acknowledged must be there. Undefined without a C compiler.
 */
export async function cutPower(options: PowerOptions): Promise<PowerReport | undefined> {
  const { cuts, seed, onProgress } = options;
  return playOnDisk(cuts, async (world, violations) => {
    const random = seededRandom(seed);
    let child = await world.serve();
    for (let cut = 1; cut <= cuts; cut += 1) {
      const before = world.acknowledged.length;
      await sendUntilBroken(world, child, random, 'cut');
      await child.kill(); // where it asked for no fsync
      world.disk.loseUnsynced(random);
      child = await world.serve();
      const losses = await findLosses(world, child.url, world.acknowledged.slice(before));
      violations.push(...losses.map((loss) => `power cut ${cut}: ${loss}`));
      onProgress?.(cut, cuts, 'power cuts');
    }
    violations.push(...(await findLosses(world, child.url, world.acknowledged)));
  });
}

const DISK_FAILED = 'the disk of the store has failed';

/**
 * Has all fsyncs of the store fail, from one of them on: the program must end, since nobody knows what is on the disk, and
 * all that was acknowledged must be there, whether the power goes as well or not. Undefined without a C compiler.
 */
export async function failDisk({ seed }: { seed: number }): Promise<PowerReport | undefined> {
  return playOnDisk(1, async (world, violations) => {
    const random = seededRandom(seed);
    const child = await world.serve();
    const hasEnded = await sendUntilBroken(world, child, random, 'eio');
    if (!hasEnded) {
      violations.push('the program goes on though its disk fails');
      await child.kill();
    }
    const code = await child.exited;
    if (hasEnded && (code !== 1 || !child.output().includes(DISK_FAILED)))
      violations.push(`the program ended with ${code}: ${child.output().slice(-500)}`);
    const restarted = await world.serve();
    violations.push(...(await findLosses(world, restarted.url, world.acknowledged)));
    await restarted.kill();
    world.disk.loseUnsynced(random);
    const { url } = await world.serve();
    violations.push(...(await findLosses(world, url, world.acknowledged)));
  });
}

async function sendUntilBroken(
  world: World,
  { url }: Child,
  random: () => number,
  how: Break['how'],
): Promise<boolean> {
  const from = random() < SHARE_OF_CHECKPOINTS ? 'database' : 'log';
  const later = Math.floor(random() * (from === 'database' ? AFTER_CHECKPOINT : FSYNCS));
  await sendUntilGone(world, url, DELIVERIES_BEFORE); // the checkpoint of a start is over then
  world.disk.breakAt({ from, later, how });
  const isGone = await sendUntilGone(world, url, DELIVERIES_MAX);
  world.disk.mend();
  return isGone;
}

async function playOnDisk(
  rounds: number,
  play: (world: World, violations: string[]) => Promise<void>,
): Promise<PowerReport | undefined> {
  await buildIfChanged(); // torture calls this, too, without what a run of tests sets up
  using folder = scratchFolder('power');
  await using world = await openWorld(folder.path, rounds * LEADS_A_CUT);
  if (!world) return undefined;
  const violations: string[] = [];
  try {
    await play(world, violations);
  } catch (error) {
    violations.push(String(error)); // it does not start any more on what is left
  }
  const { acknowledged } = world;
  const claimed = acknowledged.flatMap((one) => one.claimed).length;
  return { powerCuts: rounds, acknowledged: acknowledged.length, claimed, violations };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { killInstance, startInstance } from './instances.ts';
import type { Run } from './run.ts';
import type { Halt } from '../support/postgres/server.ts';

/** Share of kills that take all instances at once, as a power cut does. */
const SHARE_OF_ALL = 0.15;

/** Kills one instance after the other, sometimes all, and has it started again. */
export async function killAgainAndAgain(run: Run, random: () => number): Promise<void> {
  const { instances, report } = run;
  while (!run.isOver()) {
    await sleep(100 + random() * 2400);
    const isAll = random() < SHARE_OF_ALL;
    const one = Math.floor(random() * instances.length);
    const victims = isAll ? instances : instances.slice(one, one + 1);
    await Promise.all(victims.map((instance) => killInstance(run, instance)));
    report.kills += victims.length;
    await Promise.all(victims.map((instance) => startInstance(run, instance)));
  }
}

/** Has the server of the store, where it is the torture's own, shut down or crash, and start again. */
export async function restartTheStore(run: Run, random: () => number): Promise<void> {
  const { server } = run.store;
  if (!server) return;
  for (;;) {
    await sleep(5000 + random() * 10_000);
    const how: Halt = random() < 0.5 ? 'fast' : 'immediate';
    const awayMs = random() * 1500;
    if (run.isOver()) return;
    await server.halt(how);
    await sleep(awayMs);
    await server.start();
    if (how === 'fast') run.report.fastRestarts += 1;
    else run.report.crashRestarts += 1;
  }
}

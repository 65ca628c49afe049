import { type Running, start } from '../processes.ts';
import { type BenchRow, median } from '../row.ts';
import { serve } from '../service.ts';
import type { BenchEngine } from '../stores.ts';
import { inLeadWorld } from './world.ts';

type Sample = { readyMs: number; memory: number };

/** Time to ready and memory then, against the same packages and a listener. */
export async function measureStart(
  engine: BenchEngine,
  { starts }: { starts: number },
): Promise<BenchRow[]> {
  return inLeadWorld(engine, 1000, async ({ config }) => {
    const makers = {
      bare: () => start(['bench/leads/imports-only.ts']),
      ours: () => serve(config),
    };
    const samples = { bare: [] as Sample[], ours: [] as Sample[] };
    for (let round = 0; round <= starts; round += 1)
      for (const name of ['bare', 'ours'] as const) {
        const sample = await sampleOf(makers[name]);
        if (round > 0) samples[name].push(sample); // the first reads the disk
      }
    const ratio = (pick: (sample: Sample) => number): number =>
      median(samples.ours.map(pick)) / median(samples.bare.map(pick));
    return [
      {
        what: 'time to ready ÷ imports and a listener',
        value: ratio(({ readyMs }) => readyMs),
        wanted: { atMost: 1.3 },
        source: `clock, median of ${starts} starts`,
      },
      {
        what: 'memory when ready ÷ imports and a listener',
        value: ratio(({ memory }) => memory),
        wanted: { atMost: 1.5 },
        source: '/proc/PID/status',
      },
    ];
  });
}

async function sampleOf(make: () => Promise<Running>): Promise<Sample> {
  const running = await make();
  const sample = { readyMs: running.readyMs, memory: running.residentMiB() };
  await running.stop();
  return sample;
}

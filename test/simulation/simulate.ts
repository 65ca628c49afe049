import type { Config } from '#config/schema/schema.ts';
import { seededRandom } from '#sandbox/instruments/faults.ts';
import { beOperator } from './people/operators.ts';
import { bePartner } from './people/partners.ts';
import { beSalesperson } from './people/sales.ts';
import { beTool, createTool, type Tool } from './people/tools.ts';
import { beVisitors, writeFormsBefore } from './people/visitors.ts';
import { settle } from './settle.ts';
import { beginOutages } from './world/outages.ts';
import { useScheduler } from './world/patch.ts';
import { createScheduler } from './world/scheduler.ts';
import { calm, drawWeather } from './world/weather.ts';
import type { Stores } from './world/store.ts';
import { createWorld } from './world/create-world.ts';
import type { World } from './world/world.ts';

export type Simulation = {
  stores: Stores;
  config: Config;
};

/** Sizes that may be smaller without another seed. */
export type Size = { steps: number; people: number };

const LONG = { share: 0.1, steps: 2000 };
const SHORT = { least: 200, most: 500 };

/** Steps before the weather turns fair: most histories are short, one of ten is long. */
export function sizeOf(seed: number): Size {
  const random = seededRandom(seed ^ 0x512e);
  const { least, most } = SHORT;
  const steps = random() < LONG.share ? LONG.steps : least + Math.floor(random() * (most - least));
  return { steps, people: 1 };
}

export type Result = {
  seed: number;
  steps: number;
  virtualMs: number;
  /** Of the whole history. */
  digest: string;
  violations: readonly string[];
  /** The last steps, in words. */
  history: readonly string[];
};

/** One history: on SQLite the same seed has the same one, to the byte. */
export async function simulate(
  { stores, config }: Simulation,
  seed: number,
  size: Size = sizeOf(seed),
): Promise<Result> {
  const store = stores.create(seed);
  const scheduler = createScheduler(seed, store.settled);
  useScheduler(scheduler, seed);
  const random = seededRandom(seed ^ 0x5eed);
  const world = createWorld(scheduler, random, {
    config,
    store,
    instances: 1 + Math.floor(random() * 3),
  });
  const tools = [createTool('tool 1'), createTool('tool 2')];
  try {
    await play(world, tools, size);
    if (world.violations.length === 0) await settle(world, tools);
  } finally {
    world.close();
    store.close();
  }
  const { violations } = world;
  return {
    seed,
    steps: scheduler.steps(),
    virtualMs: scheduler.nowMs(),
    digest: scheduler.digest(),
    violations,
    history: [...scheduler.recent()],
  };
}

async function play(world: World, tools: readonly Tool[], size: Size): Promise<void> {
  const { scheduler, random, weather } = world;
  writeFormsBefore(world, 3 + Math.floor(random() * 4));
  scheduler.leap(10_000);
  const storm = drawWeather(random);
  Object.assign(weather, storm);
  const pauseMs = [500, 3000, 10_000][Math.floor(random() * 3)] ?? 500;
  const acts = (most: number): number => Math.ceil(random() * most * size.people);
  scheduler.as(scheduler.outside, () => {
    void beVisitors(world, acts(8), pauseMs);
    void beSalesperson(world, acts(25), pauseMs);
    void bePartner(world, acts(8), pauseMs);
    void bePartner(world, acts(8), pauseMs);
    void beOperator(world, tools, acts(4), 3 * pauseMs);
    for (const tool of tools) void beTool(world, tool, pauseMs);
  });
  while (scheduler.steps() < size.steps && world.violations.length === 0) {
    if (!(await scheduler.step())) throw new Error('nobody waits for anything');
    if (scheduler.random() < weather.cut) cutOne(world);
    beginOutages(world);
  }
  Object.assign(weather, calm);
  world.isOver = true;
}

function cutOne({ instances, scheduler, model, tell }: World): void {
  const instance = instances[Math.floor(scheduler.random() * instances.length)];
  if (!instance || instance.owner.isCut) return;
  model.crashes += 1;
  tell(`${instance.owner.name} IS CUT OFF`);
  instance.end('it was cut off');
}

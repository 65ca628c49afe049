import { type Result, simulate, type Simulation, type Size } from './simulate.ts';

const TRIES_MAX = 12;

/** The same seed with less of it, as long as something is violated. */
export async function shrink(
  simulation: Simulation,
  found: Result,
  size: Size,
): Promise<Result & { size: Size }> {
  let best = { ...found, size };
  const attempt = async (smaller: Size): Promise<boolean> => {
    const result = await simulate(simulation, found.seed, smaller);
    if (result.violations.length > 0) best = { ...result, size: smaller };
    return result.violations.length > 0;
  };
  for (let least = 0, tries = 0; tries < TRIES_MAX && best.size.steps - least > 20; tries += 1) {
    const steps = Math.floor((least + best.size.steps) / 2);
    if (!(await attempt({ ...best.size, steps }))) least = steps;
  }
  for (const people of [0.25, 0.5])
    if (people < best.size.people && (await attempt({ ...best.size, people }))) break;
  return best;
}

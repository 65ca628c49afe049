import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { programFile } from '../support/program.ts';
import { configOf, type Instance, type Run } from './run.ts';
import { startChild } from './service.ts';

const STARTS_MAX = 100;
const START_AGAIN_MS = 200;

/**
 * Starts it, and again when it could not be started, as a service manager would: a store that is away
 * ends a start.
 */
export async function startInstance(run: Run, instance: Instance): Promise<void> {
  const { port } = new URL(instance.url);
  for (let starts = 1; instance.child === undefined; starts += 1) {
    try {
      const args = [programFile(), 'serve', '--config', instance.config, '--port', port];
      instance.child = await startChild(args);
    } catch (error) {
      if (starts === STARTS_MAX) throw error;
      run.output += String(error);
      run.report.failedStarts += 1;
      await sleep(START_AGAIN_MS);
    }
  }
}

/** After so long each file has every partner, which instances learn by a signal, or by being killed. */
export async function completeFiles(run: Run, afterMs: number): Promise<void> {
  await sleep(afterMs);
  for (const { config, lacks, child } of run.instances) {
    if (lacks === undefined) continue;
    writeFileSync(config, configOf(run));
    child?.reload();
  }
}

/** Ends it without any warning. An instance that has ended by itself is a violation. */
export async function killInstance(run: Run, instance: Instance): Promise<void> {
  const { child } = instance;
  if (!child) return;
  if (child.hasEnded())
    run.report.violations.push(`an instance ended by itself: ${child.output().slice(-500)}`);
  instance.child = undefined;
  await child.kill();
  run.output += child.output();
}

/** Stops it as an operator would; exit code 0 is promised. */
export async function stopInstance(run: Run, instance: Instance): Promise<void> {
  const code = await instance.child?.stop();
  run.output += instance.child?.output() ?? '';
  if (code !== 0) run.report.violations.push(`an instance that was stopped ended with ${code}`);
}

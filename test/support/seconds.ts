import path from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

/** Ends a run with the seconds that its files took by folder, loading included; most first. */
export default function reportSeconds(): Reporter {
  return { onTestRunEnd: (modules) => void process.stdout.write(toTable(modules)) };
}

function toTable(modules: readonly TestModule[]): string {
  const folders = new Map<string, number>();
  for (const module of modules) {
    const folder = path.dirname(module.relativeModuleId).split('/').slice(1, 3).join('/');
    folders.set(folder, (folders.get(folder) ?? 0) + millisecondsOf(module));
  }
  const rows = [...folders].toSorted(([, a], [, b]) => b - a);
  return rows
    .map(([folder, ms]) => `${(ms / 1000).toFixed(0).padStart(6)} s  ${folder}\n`)
    .join('');
}

function millisecondsOf(module: TestModule): number {
  const { prepareDuration, collectDuration, setupDuration, duration } = module.diagnostic();
  return prepareDuration + collectDuration + setupDuration + duration;
}

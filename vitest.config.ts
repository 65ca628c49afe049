import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongFirst } from './test/support/long-first.ts';

/** Tests of whole programs. */
const PROGRAMS = ['test/{browser,e2e,torture}/**/*.test.ts'];
const APART = ['test/adapters/threads/**/*.test.ts'];
const CORES = availableParallelism();
/** The seconds by folder, at the end. */
const SECONDS = './test/support/seconds.ts';

export default defineConfig({
  test: {
    // Files share a process and its modules: to load them takes longer than most files do. What fills the
    // memory has a process of its own for each file. Whole programs wait more than they work, and so more
    // of them run at a time.
    isolate: false,
    sequence: { sequencer: LongFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'programs',
          include: PROGRAMS,
          maxWorkers: 2 * CORES,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'apart', include: APART, isolate: true, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...PROGRAMS, ...APART],
          sequence: { groupOrder: 1 },
        },
      },
    ],
    globalSetup: [
      'test/support/memory-folder.ts',
      'test/support/build.ts',
      'test/support/migrated-store.ts',
      'test/support/postgres/global-setup.ts',
    ],
    unstubGlobals: true,
    reporters: ['default', SECONDS],
    setupFiles: ['test/support/setup.ts'],
    // Tests strip types in several threads at once. V8 frees the code of a wrapper that two threads make of
    // the same WebAssembly twice, which ends the process (Runtime_TierUpWasmToJSWrapper, Node 24.21).
    execArgv: ['--wasm-wrapper-tiering-budget=2000000000'],
    maxWorkers: Math.max(2, CORES - 1),
    // A machine that is busy with other things as well makes a test slow, and not fail.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 5 } },
  },
});

import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { ProgramsFirst } from './test/support/programs-first.ts';

/** Tests of whole programs, which go on beside the next test: a browser, and what it looks at. */
const PROGRAMS = ['test/{browser,e2e,torture}/**/*.test.ts'];
/** What fills the memory has a process of its own for each file. */
const APART = ['test/adapters/threads/**/*.test.ts'];
/** The seconds by folder, at the end. */
const SECONDS = './test/support/seconds.ts';

export default defineConfig({
  test: {
    // Files of a project share a process and its modules: to load them takes longer than most files do.
    isolate: false,
    sequence: { sequencer: ProgramsFirst },
    projects: [
      { extends: true, test: { name: 'apart', include: APART, isolate: true } },
      { extends: true, test: { name: 'programs', include: PROGRAMS } },
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...PROGRAMS, ...APART],
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
    // Tests wait for programs, timers and browsers more than they work.
    maxWorkers: Math.ceil(2.5 * availableParallelism()),
    // A machine that is busy with other things as well makes a test slow, and not fail.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 5 } },
  },
});

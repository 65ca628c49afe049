import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const APART = ['test/{adapters,bench,browser,compose,e2e,torture}/**/*.test.ts'];
/** The seconds by folder, at the end. */
const SECONDS = './test/support/seconds.ts';

export default defineConfig({
  test: {
    // Long ones first. What starts processes or fills its memory has a process of its own for each file;
    // the others share one's modules: to load them takes longer than most of these files do.
    projects: [
      { extends: true, test: { name: 'apart', include: APART } },
      {
        extends: true,
        test: { name: 'together', include: ['test/**/*.test.ts'], exclude: APART, isolate: false },
      },
    ],
    globalSetup: ['test/support/build.ts', 'test/support/postgres/global-setup.ts'],
    unstubGlobals: true,
    reporters: ['default', SECONDS],
    setupFiles: ['test/support/setup.ts'],
    // Tests strip types in several threads at once. V8 frees the code of a wrapper that two threads make of
    // the same WebAssembly twice, which ends the process (Runtime_TierUpWasmToJSWrapper, Node 24.21).
    execArgv: ['--wasm-wrapper-tiering-budget=2000000000'],
    // Tests of whole programs wait more than they work: two at a time, where Vitest would run one.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // A machine that is busy with other things as well makes a test slow, and not fail.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 5 } },
  },
});

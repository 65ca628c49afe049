import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/build.ts', 'test/support/postgres/global-setup.ts'],
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

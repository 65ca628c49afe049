import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/postgres/global-setup.ts'],
    setupFiles: ['test/support/setup.ts'],
    // As `bin/prepare.js` has it for the program, and why.
    execArgv: ['--wasm-wrapper-tiering-budget=2000000000'],
    // Tests of whole programs wait more than they work: two at a time, where Vitest would run one.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // A machine that is busy with other things as well makes a test slow, and not fail.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 5 } },
  },
});

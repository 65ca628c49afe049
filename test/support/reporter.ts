import type { OutcomeReporter } from '#partners/receipts/report-outcomes.ts';

/** For tests that look at something else. */
export const silentReporter: OutcomeReporter = {
  settled: () => undefined,
  attemptFailed: () => undefined,
};

import { STEPS_MAX } from '#partners/receipts/kept.ts';

/** `event.history` with one more step; `step` is SQL for a JSON object. The oldest give way. */
export function withStep(step: string, history = 'history'): string {
  return `json_remove(json_insert(${history}, '$[#]', ${step}), '$[#-${STEPS_MAX + 1}]')`;
}

/** With the parameter `step`: one as JSON, or null. */
export const WITH_GIVEN_STEP = `iif(@step IS NULL, history, ${withStep('json(@step)')})`;

/** With how it has ended, for one that is to be worked again. */
export const WITH_END =
  withStep(`json_object('at', completedAt, 'what', 'ended', 'outcome', outcome,
  'code', lastError)`);

import { STEPS_MAX } from '#partners/receipts/kept.ts';

/** `event.history` with one more step; `step` is SQL for an object of jsonb. The oldest give way. */
export function withStep(step: string, history = 'history'): string {
  return `((${history} || ${step}) - (-${STEPS_MAX + 1}))`;
}

/** With the parameter `step`: one as JSON, or null. */
export const WITH_GIVEN_STEP = withStep(`coalesce(@step::jsonb, '[]')`);

/** With how it has ended, for one that is to be worked again. */
export const WITH_END = withStep(`jsonb_build_object('at', completed_at, 'what', 'ended',
  'outcome', outcome, 'code', last_error)`);

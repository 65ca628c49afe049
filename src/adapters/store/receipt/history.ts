import { STEPS_MAX } from '#partners/receipts/kept.ts';
import { either } from '../session.ts';

/** `event.history` with one more step; `step` is SQL for an object of JSON. The oldest give way. */
export function withStep(step: string, history = 'history'): string {
  const [open, also, close] = [
    either('((', 'json_remove(json_insert('),
    either('||', ", '$[#]',"),
    either(`) - (-${STEPS_MAX + 1}))`, `), '$[#-${STEPS_MAX + 1}]')`),
  ];
  return `${open}${history} ${also} ${step}${close}`;
}

/** The parameter `step`: a step as JSON. */
export const GIVEN_STEP = either('@step::jsonb', 'json(@step)');

/** With the parameter `step`: one as JSON, or null. */
export const WITH_GIVEN_STEP = `
  CASE WHEN @step::jsonb IS NULL THEN history ELSE ${withStep(GIVEN_STEP)} END`;

/** With how it has ended, for one that is to be worked again. */
export const WITH_END = withStep(`jsonb_build_object('at', completed_at, 'what', 'ended',
  'outcome', outcome, 'code', last_error)`);

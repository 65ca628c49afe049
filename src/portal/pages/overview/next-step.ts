import type { CheckResult } from '#http/readiness.ts';

/** What to do next, by the cause that a detail tells; the first that fits. */
const STEPS: readonly [cause: RegExp, step: string][] = [
  [/\bunauthorized\b/, 'Replace tracker.auth and send SIGHUP: it is tried at once.'],
  [
    /\bforbidden\b/,
    'Give the credential the right to issues (a repository that is archived is to be opened again): then work goes on by itself.',
  ],
  [
    /\b(?:repository-missing|missing|moved)\b/,
    'See that tracker.repository is its name still, and that the credential may see it; another name needs a restart.',
  ],
  [/\bissues-disabled\b/, 'Switch issues on in the repository.'],
  [/\bversion-retired\b/, 'Update Trackport: the tracker has ended the version of its API.'],
  [/\blimited\b/, 'Wait: it is asked again when its limit is over.'],
  [
    /\b(?:network|timeout)\b/,
    'See that this machine reaches it (trackport doctor); it is asked again every half minute.',
  ],
  [/\b(?:server|nonsense|invalid)\b/, 'See its status page; it is asked again every half minute.'],
];

/** Of what the tracker refuses or fails. */
export function nextStep(name: string, { state, detail = '' }: CheckResult): string {
  const isOfTracker =
    `${name} ${state}` === 'tracker failing' || `${name} ${state}` === 'worker paused';
  const [, step] = (isOfTracker && STEPS.find(([cause]) => cause.test(detail))) || [];
  return step === undefined ? '' : `Next step: ${step}`;
}

import { refuse, TrackportError } from '#shared/errors.ts';
import type { FieldProblem } from '#shared/errors.ts';
import { FORBIDDEN_IN_LABEL, LABEL_CHARACTERS_MAX, LABELS_MAX } from '#shared/label.ts';
import { isLongerThan } from '#shared/text/visible.ts';

/** What a grant can allow. */
export const grantActions = ['leads:read'] as const;

export type GrantAction = (typeof grantActions)[number];

/** What a consumer may do. With `labels`: only with leads that carry all of them. */
export type Grant = { action: GrantAction; labels?: readonly string[] };

/** A grant as a request has it. */
export type GrantInput = { action: string; labels?: readonly string[] };

/** The labels that every lead must carry which the caller sees; none means all leads. */
export type GrantedLabels = { labels: readonly string[] };

/** One array for all: what is derived from it is remembered by its identity (`memoize.ts`). */
const ALL_LEADS: readonly string[] = [];

/** What the grants allow of one action. @throws {insufficient-scope} they allow nothing of it */
export function decideGrant(grants: readonly Grant[], action: GrantAction): GrantedLabels {
  const grant = grants.find((candidate) => candidate.action === action);
  if (!grant)
    throw new TrackportError('insufficient-scope', {
      detail: `This needs the grant \`${action}\`, which the consumer of this key does not have.`,
    });
  return { labels: grant.labels ?? ALL_LEADS };
}

/**
 * Grants as they are stored: one per action, labels trimmed and without repetitions (names compare
 * without regard to case). An empty `labels` is refused, because it would look restricted and not be.
 * @throws {validation-failed}
 */
export function parseGrants(grants: readonly GrantInput[]): Grant[] {
  const problems: FieldProblem[] = [];
  const parsed = grants.map(({ action, labels }, index): Grant => {
    const isRepeated = grants.findIndex((other) => other.action === action) < index;
    if (!isGrantAction(action)) problems.push(unknownAction(index));
    else if (isRepeated) problems.push(repeatedAction(index, action));
    if (labels === undefined) return { action: action as GrantAction };
    const trimmed = withoutRepetitions(labels.map((label) => label.trim()));
    problems.push(...labelProblems(index, trimmed));
    return { action: action as GrantAction, labels: trimmed };
  });
  if (problems.length > 0) refuse(problems);
  return parsed;
}

function isGrantAction(action: string): action is GrantAction {
  return (grantActions as readonly string[]).includes(action);
}

function withoutRepetitions(labels: string[]): string[] {
  const folded = labels.map((label) => label.toLowerCase());
  return labels.filter((_, index) => folded.indexOf(folded[index] ?? '') === index);
}

function labelProblems(index: number, labels: string[]): FieldProblem[] {
  const pointer = `#/grants/${index}/labels`;
  if (labels.length === 0 || labels.length > LABELS_MAX)
    return [
      {
        pointer,
        code: 'out-of-range',
        detail: `A grant names 1 to ${LABELS_MAX} labels, or has no \`labels\` at all.`,
      },
    ];
  return labels.flatMap((label, at) =>
    isLabelName(label)
      ? []
      : [
          {
            pointer: `${pointer}/${at}`,
            code: 'invalid-label',
            detail: `A label has 1 to ${LABEL_CHARACTERS_MAX} characters, no comma and no control characters.`,
          },
        ],
  );
}

function isLabelName(label: string): boolean {
  return (
    label !== '' && !isLongerThan(label, LABEL_CHARACTERS_MAX) && !FORBIDDEN_IN_LABEL.test(label)
  );
}

function unknownAction(index: number): FieldProblem {
  return {
    pointer: `#/grants/${index}/action`,
    code: 'unknown-action',
    detail: `A grant's action is one of: ${grantActions.join(', ')}.`,
  };
}

function repeatedAction(index: number, action: string): FieldProblem {
  return {
    pointer: `#/grants/${index}/action`,
    code: 'repeated-action',
    detail: `There is more than one grant for ${action}; give one, with all its labels.`,
  };
}

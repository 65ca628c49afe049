import { type FieldProblem, refuse, TrackportError } from '#shared/errors.ts';
import { foldLabel } from '#shared/text/labels.ts';
import { isLongerThan, isPlainLine } from '#shared/text/visible.ts';

export const grantActions = ['leads:read', 'catalog:read'] as const;

export type GrantAction = (typeof grantActions)[number];

/**
 * Permission of a consumer. `leads:read`, with `labels`: only of leads that carry all of them.
 * `catalog:read`: in the one `workspace` that it names.
 */
export type Grant = { action: GrantAction; labels?: readonly string[]; workspace?: string };

/** A grant as a request has it. */
export type GrantInput = { action: string; labels?: readonly string[]; workspace?: string };

/** One array for all: what is derived from it is remembered by its identity (`shared/caching.ts`). */
const ALL_LEADS: readonly string[] = [];

/** The labels that every lead must carry which the caller sees; none means all leads. @throws {insufficient-scope} */
export function grantedLabels(grants: readonly Grant[]): readonly string[] {
  return requireGrant(grants, 'leads:read').labels ?? ALL_LEADS;
}

/** The workspace whose catalog the caller reads. @throws {insufficient-scope} */
export function grantedWorkspace(grants: readonly Grant[]): string {
  return grantOf(grants, 'catalog:read')?.workspace ?? refuseWithout('catalog:read');
}

export function grantOf(grants: readonly Grant[], action: GrantAction): Grant | undefined {
  return grants.find((grant) => grant.action === action);
}

/** @throws {insufficient-scope} none is for this action */
export function requireGrant(grants: readonly Grant[], action: GrantAction): Grant {
  return grantOf(grants, action) ?? refuseWithout(action);
}

function refuseWithout(action: GrantAction): never {
  throw new TrackportError('insufficient-scope', {
    detail: `This needs the grant \`${action}\`, which the consumer of this key does not have.`,
  });
}

/**
 * Grants as they are stored: one per action, labels trimmed and without repetitions (names compare
 * without regard to case). An empty `labels` is refused, because it would look restricted and not be.
 * @throws {validation-failed}
 */
export function parseGrants(grants: readonly GrantInput[]): Grant[] {
  const problems = grantFaults(grants).map(({ at, field, code, detail }): FieldProblem => ({
    pointer: `#/grants/${at}/${field}`,
    code,
    detail,
  }));
  const parsed = grants.map(({ action, labels, workspace }, index): Grant => {
    const scope = { action: action as GrantAction, workspace };
    if (labels === undefined) return scope;
    const trimmed = withoutRepetitions(labels.map((label) => label.trim()));
    problems.push(...labelProblems(index, trimmed));
    return { ...scope, labels: trimmed };
  });
  if (problems.length > 0) refuse(problems);
  return parsed;
}

/** A contradiction between the fields of a grant, or between grants, whatever is wrong with each field. */
type GrantFault = {
  at: number;
  field: 'action' | 'labels' | 'workspace';
  code: string;
  detail: string;
};

export function grantFaults(grants: readonly Partial<GrantInput>[]): GrantFault[] {
  return grants.flatMap(({ action, labels, workspace }, at): GrantFault[] => {
    const fault = (field: GrantFault['field'], code: string, detail: string): GrantFault[] => [
      { at, field, code, detail },
    ];
    if (typeof action !== 'string') return [];
    if (!grantActions.some((known) => known === action))
      return fault(
        'action',
        'unknown-action',
        `A grant's action is one of: ${grantActions.join(', ')}.`,
      );
    if (grants.findIndex((other) => other.action === action) < at)
      return fault('action', 'repeated-action', `There is more than one grant for ${action}.`);
    if (action === 'leads:read')
      return workspace === undefined
        ? []
        : fault('workspace', 'not-allowed', 'Only a grant for catalog:read names a workspace.');
    if (labels !== undefined)
      return fault('labels', 'not-allowed', 'Only a grant for leads:read names labels.');
    return isWorkspace(workspace) ? [] : fault('workspace', 'missing', WORKSPACE_RULE);
  });
}

export const WORKSPACE_CHARACTERS_MAX = 200;
export const WORKSPACE_RULE = `A grant for catalog:read names its workspace: 1 to ${WORKSPACE_CHARACTERS_MAX} characters without control characters.`;

/** No store keeps other ones as they are, and two workspaces would become one. */
export function isWorkspace(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    !isLongerThan(value, WORKSPACE_CHARACTERS_MAX) &&
    isPlainLine(value)
  );
}

function withoutRepetitions(labels: string[]): string[] {
  const folded = labels.map(foldLabel);
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

/** A label that a grant can name: a tracker has others, too. */
export function isLabelName(label: string): boolean {
  return (
    label !== '' && !isLongerThan(label, LABEL_CHARACTERS_MAX) && !FORBIDDEN_IN_LABEL.test(label)
  );
}

/** Of a filter, and of a grant. */
export const LABELS_MAX = 10;

/**
 * Characters of a label's name. GitHub makes none of more than 50; this only bounds what a caller can
 * send.
 */
export const LABEL_CHARACTERS_MAX = 200;

/** No comma, which separates names where a query names several; no control characters, no half surrogate pair. */
export const FORBIDDEN_IN_LABEL = /[,\p{Cc}\p{Cs}]/u;

import type { FieldProblem } from '#shared/errors.ts';
import { html, type Html } from '../../html.ts';
import { checks, held, type HeldForm, input, textArea } from '../../shell/fields.ts';
import { cut, foreign } from '../../shell/parts.ts';
import { problemOf, remark } from '../../shell/notice.ts';
import { count } from '../../shell/times.ts';
import type { Visibility } from './forms.ts';
import type { PagesContext } from '../../context.ts';

/** The tracker's labels; undefined while nobody can know them. */
export type KnownLabels = readonly string[] | undefined;

export const knownLabels = ({ tracker }: PagesContext): Promise<KnownLabels> =>
  tracker.labels().catch(() => undefined);

/** Which leads a consumer sees: all, those with labels, none; and whose catalog. */
export function visibilityFields(
  { sees, label, workspace }: Visibility,
  labels: KnownLabels,
  problems: readonly FieldProblem[],
): Html {
  return html`${checks({
    kind: 'radio',
    name: 'sees',
    label: 'Sees approved leads',
    chosen: [sees],
    error: problemOf(problems, 'sees'),
    choices: [
      { value: 'all', label: 'all of them' },
      { value: 'labels', label: 'those with labels' },
      { value: 'nothing', label: 'none' },
    ],
  })}
  ${labelFields(label, labels, problemOf(problems, 'label'))}
  ${input({
    name: 'workspace',
    label: 'Reads the catalog of the workspace',
    value: workspace,
    note: 'Empty: it reads no catalog. A workspace is what the tokens of its owners name; “default” without one.',
    error: problemOf(problems, 'workspace'),
  })}`;
}

/** How many calls a consumer may make. `own`: as it is. */
export function limitField(defaultLimit: number, form: HeldForm, own?: number): Html {
  return input({
    ...held('limitPerMinute', form, own?.toString()),
    label: 'Calls per minute',
    type: 'number',
    min: 1,
    placeholder: String(defaultLimit),
    note: `Empty: the default, ${count(defaultLimit)}. Each instance counts on its own.`,
  });
}

/** More labels than these are typed, not ticked: a page of boxes would be long, and slow to read. */
const BOXES_MAX = 30;
const BOX_CHARACTERS_MAX = 500;
/** Of a form that came back; a grant has fewer. */
const GONE_MAX = 10;

function labelFields(chosen: readonly string[], labels: KnownLabels, error?: string): Html {
  const known = labels ?? [];
  if (isTooMuchForBoxes([...known, ...chosen])) return labelLines(chosen, known.length, error);
  const folded = new Set(known.map(fold));
  const gone = chosen.filter((name) => !folded.has(fold(name))).slice(0, GONE_MAX);
  const choices = [
    ...known.map((name) => ({ value: name, label: foreign(name, 60) })),
    ...gone.map((name) => ({
      value: name,
      label: html`${foreign(name, 60)} ${labels ? '(not in the tracker any more)' : ''}`,
    })),
  ];
  if (!labels && choices.length === 0) {
    const unknown = 'The tracker cannot be asked for its labels now';
    return remark('warn', unknown, 'Try again in a minute.');
  }
  const taken = new Set(chosen.map(fold));
  return checks({
    kind: 'checkbox',
    name: 'label',
    label: 'Labels that a lead must carry, all of them',
    chosen: choices.map(({ value }) => value).filter((value) => taken.has(fold(value))),
    choices,
    error,
    note: 'These labels exist in the tracker. Names compare without regard to case.',
  });
}

/** Each stands twice in its box, and quotes and brackets are six characters each. */
function isTooMuchForBoxes(names: readonly string[]): boolean {
  return names.length > BOXES_MAX || names.join('').length > BOX_CHARACTERS_MAX;
}

function labelLines(chosen: readonly string[], known: number, error?: string): Html {
  return textArea({
    name: 'label',
    label: 'Labels that a lead must carry, all of them',
    value: chosen
      .slice(0, BOXES_MAX)
      .map((name) => cut(name, 60))
      .join('\n'),
    rows: 5,
    note: `One on each line. The tracker has ${count(known)} labels; only those can be granted. Names compare without regard to case.`,
    error,
  });
}

/** Unknown labels that are named at a time. */
const PROBLEMS_MAX = 5;

/**
 * Nobody who ticks labels is to give away all leads because the first choice stayed as it was. Where
 * labels were granted `before`, all leads are a choice that was made.
 */
export function contradiction(
  { sees, label }: Visibility,
  before: readonly string[] = [],
): FieldProblem[] {
  if (sees !== 'all' || label.length === 0 || before.length > 0) return [];
  const detail =
    'Labels are chosen below, and “all of them” here. Choose “those with labels”, or take the labels away.';
  return [{ pointer: '#/sees', code: 'contradiction', detail }];
}

/** What is wrong with labels that were chosen: each must exist, as far as anybody knows. */
export function labelProblems(
  { label }: Visibility,
  labels: KnownLabels,
  before: readonly string[] = [],
): FieldProblem[] {
  if (label.length === 0)
    return [{ pointer: '#/label', code: 'required', detail: 'Choose at least one label.' }];
  const known = new Set([...(labels ?? []), ...before].map(fold));
  const unknown = new Set(label.filter((name) => !known.has(fold(name))));
  return [...unknown].slice(0, PROBLEMS_MAX).map((name) => ({
    pointer: '#/label',
    code: 'unknown-label',
    detail: labels
      ? `The tracker has no label “${cut(name, 60)}”.`
      : `The tracker cannot be asked whether it has “${cut(name, 60)}”. Try again in a minute.`,
  }));
}

const fold = (name: string): string => name.toLowerCase();

import type { PortalPerson } from '../../person.ts';
import type { FormProblem, TypedFields } from '../../page.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { plainCard, row } from '../../shell/card.ts';
import { input, select } from '../../shell/fields.ts';
import { button, postForm } from '../../shell/forms.ts';
import { errorSummary, problemOf } from '../../shell/notice.ts';
import { link } from '../../shell/parts.ts';
import { LIFETIMES, toLabels } from './forms.ts';
import type { Visibility } from './forms.ts';
import { CONSUMERS_PATH } from './query.ts';
import { visibilityFields } from './visibility.ts';
import type { KnownLabels } from './visibility.ts';

export type NewConsumerFacts = {
  person: PortalPerson;
  labels: KnownLabels;
  /** What was typed, when the form came back. */
  typed?: TypedFields;
  problems?: readonly FormProblem[];
  defaultLimit: number;
};

const FIELDS = {
  name: 'Name',
  sees: 'Sees',
  label: 'Labels',
  workspace: 'Catalog',
  lifetime: 'Key',
  limitPerMinute: 'Limit',
};

/** The form that makes a consumer with its grants and its first key. */
export function newConsumerView(given: NewConsumerFacts): Html {
  const { person, labels, typed = {}, problems = [], defaultLimit } = given;
  const errorOf = (name: string): string | undefined => problemOf(problems, name);
  const fields = [
    input({
      name: 'name',
      label: 'Name',
      value: textOf(typed['name']),
      required: true,
      note: 'Who reads, as people here call it. It can be changed.',
      error: errorOf('name'),
    }),
    visibilityFields(typedVisibility(typed), labels, errorOf),
    select({
      name: 'lifetime',
      label: 'Its first key works',
      value: textOf(typed['lifetime']),
      choices: LIFETIMES,
      note: 'A key that ends is replaced without a gap: rotate it in time.',
      error: errorOf('lifetime'),
    }),
    input({
      name: 'limitPerMinute',
      label: 'Calls per minute',
      type: 'number',
      min: 1,
      value: textOf(typed['limitPerMinute']),
      placeholder: String(defaultLimit),
      note: `Empty: the default, ${defaultLimit}. Each instance counts on its own.`,
      error: errorOf('limitPerMinute'),
    }),
    row(
      button('Create consumer', { look: 'primary' }),
      link({ href: CONSUMERS_PATH, text: 'Cancel', look: 'button' }),
    ),
  ];
  const form = postForm(
    { action: `${CONSUMERS_PATH}/new`, person, look: 'body', isDoneOnce: true },
    fields,
  );
  const summary =
    problems.length > 0 && errorSummary({ heading: 'Not created', problems, labels: FIELDS });
  return html`${summary}${plainCard(form)}`;
}

/** What was chosen in a form that came back; nothing is chosen before that. */
export function typedVisibility(typed: TypedFields): Visibility {
  const sees = textOf(typed['sees']);
  return {
    sees: sees === 'labels' || sees === 'nothing' ? sees : 'all',
    label: toLabels(typed['label']),
    workspace: textOf(typed['workspace']) ?? '',
  };
}

/** The text of a field that came back. */
function textOf(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

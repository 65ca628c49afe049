import type { Words } from '#catalog/version/content-check.ts';
import type { FormProblem, PortalPerson, TypedFields } from '../../../page.ts';
import { html, type Html } from '../../../html.ts';
import { plainCard, row } from '../../../shell/card.ts';
import { input, select, textArea } from '../../../shell/fields.ts';
import { button, postForm } from '../../../shell/forms.ts';
import { errorSummary, problemOf } from '../../../shell/notice.ts';
import { link } from '../../../shell/parts.ts';

export type DraftFormFacts = {
  person: PortalPerson;
  /** Where the form goes. */
  action: string;
  /** `new`: with id and version, `draft`: everything, `describe`: what may change once published. */
  kind: 'new' | 'draft' | 'describe';
  /** What the form holds. */
  fields: TypedFields;
  /** Values that nobody types. */
  hidden?: Readonly<Record<string, string>>;
  words: Words;
  problems?: readonly FormProblem[];
  cancel: string;
};

const LABELS = {
  id: 'Id',
  version: 'Version',
  type: 'Type',
  title: 'Title',
  owner: 'Owner',
  description: 'Description',
  groupPath: 'Group path',
  projectId: 'Project',
  source: 'Source',
  members: 'Members',
  counts: 'Counts',
  spec: 'Spec',
};

type Name = keyof typeof LABELS;

const SUBMITS = { new: 'Create draft', draft: 'Save draft', describe: 'Save' } as const;

/** The form for a version: a new one, a draft, or what may still change of another one. */
export function draftFormView(given: DraftFormFacts): Html {
  const { person, action, kind, hidden = {}, problems = [], cancel } = given;
  const buttons = row(
    button(SUBMITS[kind], { look: 'primary' }),
    link(cancel, 'Cancel', { look: 'button' }),
  );
  const heading = kind === 'new' ? 'Not created' : 'Not saved';
  const summary = problems.length > 0 && errorSummary({ heading, problems, labels: LABELS });
  const form = postForm(
    { action, person, values: hidden, look: 'body' },
    kind === 'new' && nameFields(given),
    kind !== 'describe' && specFields(given),
    descriptiveFields(given),
    kind !== 'describe' && contentFields(given),
    buttons,
  );
  return html`${summary}${plainCard(form)}`;
}

function longText(
  given: DraftFormFacts,
  name: Name,
  facts: { rows: number; isCode?: boolean; note?: string },
): Html {
  return textArea({ ...common(given, name), ...facts });
}

function textField(
  given: DraftFormFacts,
  name: Name,
  facts: { note?: string; size?: number } = {},
) {
  return input({ ...common(given, name), ...facts });
}

function common({ fields, problems = [] }: DraftFormFacts, name: Name) {
  const value = fields[name];
  return {
    name,
    label: LABELS[name],
    value: typeof value === 'string' ? value : '',
    error: problemOf(problems, name),
  };
}

function nameFields(given: DraftFormFacts): Html {
  return html`${textField(given, 'id', {
    note: 'Letters, digits, dots, underscores and hyphens. It never changes.',
  })}${textField(given, 'version', {
    note: 'Empty: 1.0.0, then the next minor of the highest one.',
    size: 12,
  })}`;
}

function descriptiveFields(given: DraftFormFacts): Html {
  return html`${textField(given, 'title')}${textField(given, 'owner', {
    note: 'A team or a person.',
  })}${longText(given, 'description', { rows: 4 })}${textField(given, 'groupPath', {
    note: 'Segments with / between them, such as sales/leads.',
  })}`;
}

function contentFields(given: DraftFormFacts): Html {
  const { types, sources } = given.words;
  const choices = (words: readonly string[]) => words.map((value) => ({ value, label: value }));
  const lists = html`${longText(given, 'members', {
    rows: 3,
    note: 'Ids of artifacts, one a line. A GROUP without any has those below its group path.',
  })}${longText(given, 'counts', { rows: 2, note: 'Such as operations: 12, one a line.' })}`;
  return html`${select({ ...common(given, 'type'), choices: choices(types) })}${select({
    ...common(given, 'source'),
    choices: choices(sources),
  })}${textField(given, 'projectId')}${lists}`;
}

function specFields(given: DraftFormFacts): Html {
  const limits = 'JSON or YAML, at most 5 MiB.';
  const rules = 'OpenAPI and AsyncAPI are validated; findings stop no draft.';
  const field = longText(given, 'spec', { rows: 12, isCode: true, note: `${limits} ${rules}` });
  return html`${field}
    <div class="field" hidden data-file-for="spec">
      <label for="spec-file">Spec from a file</label>
      <input type="file" id="spec-file" accept=".json,.yaml,.yml" />
    </div>`;
}

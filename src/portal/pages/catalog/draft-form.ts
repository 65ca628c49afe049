/** The form of a version: what it asks for, what it says of a version, and what it shows of one. */
import { z } from 'zod';
import {
  type Content,
  SPEC_BYTES_MAX,
  specJsonRules,
  type VersionRecord,
  type VersionView,
} from '#catalog/version/artifact.ts';
import { draftProblems, type Words } from '#catalog/version/content-check.ts';
import { type FieldProblem, isTrackportError, refuse } from '#shared/errors.ts';
import { parseJsonText } from '#shared/text/json.ts';
import type { PortalContext } from '../../context.ts';
import { html, type Html } from '../../html.ts';
import type { PortalPerson, TypedFields } from '../../page.ts';
import type { ActionRequest } from '../../routes/action-route.ts';
import { plainCard, row } from '../../shell/card.ts';
import { link } from '../../shell/elements.ts';
import {
  choicesOf,
  held,
  input,
  select,
  textArea,
  button,
  postForm,
  errorSummary,
} from '../../shell/forms.ts';

/** A form writes one byte as three at most. Beside the spec there are members and short texts. */
export const DRAFT_FORM_BYTES_MAX = 3 * (SPEC_BYTES_MAX + 256 * 1024);

const single = z.string('must be given once');
/** Far more than any of them may have in the end: what is longer is not looked at at all. */
const text = (charactersMax: number) =>
  single.max(charactersMax, `must have at most ${charactersMax} characters`);
const line = text(4096).trim();
const lines = text(256 * 1024);

type Field = {
  label: string;
  form: z.ZodString;
  note?: string;
  /** Of a line, in characters. */
  size?: number;
  /** Several lines to type in. */
  rows?: number;
  isCode?: boolean;
  /** One of the workspace's words. */
  oneOf?: keyof Words;
};

/** In the order of the form. */
const FIELDS = {
  id: {
    label: 'Id',
    form: line,
    note: 'Letters, digits, dots, underscores and hyphens. It never changes.',
  },
  version: {
    label: 'Version',
    form: line,
    note: 'Empty: 1.0.0, then the next minor of the highest one.',
    size: 12,
  },
  spec: {
    label: 'Spec',
    form: single,
    rows: 12,
    isCode: true,
    note: 'JSON or YAML, at most 5 MiB. OpenAPI and AsyncAPI are validated; findings stop no draft.',
  },
  title: { label: 'Title', form: line },
  owner: { label: 'Owner', form: line, note: 'A team or a person.' },
  description: { label: 'Description', form: lines, rows: 4 },
  groupPath: {
    label: 'Group path',
    form: line,
    note: 'Segments with / between them, such as sales/leads.',
  },
  type: { label: 'Type', form: line, oneOf: 'types' },
  source: { label: 'Source', form: line, oneOf: 'sources' },
  projectId: { label: 'Project', form: line },
  members: {
    label: 'Members',
    form: lines,
    rows: 3,
    note: 'Ids of artifacts, one a line. A GROUP without any has those below its group path.',
  },
  counts: {
    label: 'Counts',
    form: lines,
    rows: 2,
    note: 'Such as operations: 12, one a line.',
  },
} as const satisfies Record<string, Field>;

type Name = keyof typeof FIELDS;

const NAMES = Object.keys(FIELDS) as Name[];

/** Label of a field. */
export const labelOf = (name: string): string => FIELDS[name as Name].label;

const all = z.looseObject(
  Object.fromEntries(NAMES.map((name) => [name, FIELDS[name].form])) as Record<Name, z.ZodString>,
);
/** Names of lists that are there and hold nothing, which is not the same as none, and which nobody types. */
const empty = line.optional();
const content = all.omit({ id: true, version: true }).extend({ empty });
const describing = all.pick({ title: true, owner: true, description: true, groupPath: true });

/** `new`: with id and version, `draft`: everything, `describe`: what may change once published. */
const KINDS = {
  new: { form: all.extend({ empty }), submit: 'Create draft', failed: 'Not created' },
  draft: { form: content.extend({ seen: line }), submit: 'Save draft', failed: 'Not saved' },
  describe: { form: describing.extend({ seen: line }), submit: 'Save', failed: 'Not saved' },
};

export const newDraftForm = KINDS.new.form;
export const draftForm = KINDS.draft.form;
export const describeForm = KINDS.describe.form;

/** A version in the form for it. */
type ContentFields = z.output<typeof content>;

export type DraftForm = {
  person: PortalPerson;
  /** Address that the form is sent to. */
  action: string;
  kind: keyof typeof KINDS;
  /** Values of the form. */
  fields: TypedFields;
  /** Values that nobody types. */
  hidden?: Readonly<Record<string, string>>;
  words: Words;
  problems: readonly FieldProblem[];
  cancel: string;
};

/** The form for a version: a new one, a draft, or what may still change of another one. */
export function draftFormView(given: DraftForm): Html {
  const { person, action, kind, fields, hidden, problems, cancel } = given;
  const { form: schema, submit, failed } = KINDS[kind];
  const labels = Object.fromEntries(NAMES.map((name) => [name, labelOf(name)]));
  const form = postForm(
    { action, person, values: { ...hidden, ...emptyIn(fields) }, look: 'body' },
    NAMES.filter((name) => name in schema.shape).map((name) => field(name, given)),
    row(button(submit, { look: 'primary' }), link(cancel, 'Cancel', { look: 'button' })),
  );
  return html`${problems.length > 0 && errorSummary({ heading: failed, problems, labels })}${plainCard(form)}`;
}

const emptyIn = ({ empty: names }: TypedFields) => typeof names === 'string' && { empty: names };

function field(name: Name, { fields: typed, problems, words }: DraftForm): Html {
  const { form: _form, oneOf, ...facts }: Field = FIELDS[name];
  const given = { ...facts, ...held(name, { typed, problems }, '') };
  if (oneOf) return select({ ...given, choices: choicesOf(words[oneOf]) });
  if (facts.rows === undefined) return input(given);
  if (name !== 'spec') return textArea(given);
  return html`${textArea(given)}
    <div class="field" hidden data-file-for="spec">
      <label for="spec-file">Spec from a file</label>
      <input type="file" id="spec-file" accept=".json,.yaml,.yml" />
    </div>`;
}

/** A version's content as the form shows it; the spec apart. */
export function toFields(record: VersionRecord) {
  const { type, owner, title, source } = record;
  const { description = '', projectId = '', groupPath = '', members = [], counts = {} } = record;
  const numbers = Object.entries(counts).map(([name, n]) => `${name}: ${n}`);
  const texts = { title, owner, description, groupPath, projectId, type, source };
  return { ...texts, members: members.join('\n'), counts: numbers.join('\n') };
}

/** Fields of a form about a version. */
export function fieldsOf({ record, specText = '' }: VersionView): TypedFields {
  const { members, counts } = record;
  const empties = Object.entries({ members, counts }).filter(
    ([, list]) => list && Object.keys(list).length === 0,
  );
  const names = empties.map(([name]) => name).join(' ');
  return { ...toFields(record), spec: shownSpec(specText), empty: names };
}

/** Longer specs stay in one line: indented, one could be longer than a spec may be. */
const INDENTED_BYTES_MAX = 256 * 1024;

function shownSpec(specText: string): string {
  const bytes = Buffer.from(specText);
  if (bytes.length === 0 || bytes.length > INDENTED_BYTES_MAX) return specText;
  return JSON.stringify(parseJsonText(bytes, specJsonRules), undefined, 2);
}

/** The version that a form is about. */
type VersionName = { id: string; version?: string };

/**
 * The content that a form describes.
 * @throws {validation-failed} for everything that is wrong, once the spec or the counts are
 */
export async function contentOf(
  { catalog, readSpecText }: PortalContext,
  { form, origin }: Pick<ActionRequest<ContentFields>, 'form' | 'origin'>,
  name: VersionName,
): Promise<Content> {
  const { spec: typed, counts } = form;
  const written = toContent(form);
  const spec =
    typed.trim() === ''
      ? undefined
      : await readSpecText(typed, origin.signal).catch((error: unknown) => specProblem(error));
  const areCounts = countLines(counts).every((one) => COUNT.test(one));
  if (areCounts && typeof spec !== 'object') return { ...written, specText: spec };
  return refuse([
    ...draftProblems({ ...written, ...name }, catalog.rules()),
    ...(areCounts ? [] : [NO_COUNT]),
    ...(typeof spec === 'object' ? [spec] : []),
  ]);
}

const NO_COUNT: FieldProblem = {
  pointer: '#/counts',
  code: 'pattern',
  detail: 'A count is a name, a colon and a whole number.',
};

/** Without the spec, and without counts that cannot be read. */
function toContent(form: ContentFields): Omit<Content, 'specText'> {
  const { type, owner, title, source, description, projectId, groupPath } = form;
  const members = form.members.split(/[\s,]+/).filter((id) => id !== '');
  const counts = countLines(form.counts).flatMap((one) => {
    const [, name = '', digits = ''] = COUNT.exec(one) ?? [];
    return name === '' ? [] : [[name, Number(digits)] as const];
  });
  const isEmpty = (name: string) => form.empty?.includes(name);
  return {
    type,
    owner,
    title,
    source,
    description: description.trim() || undefined,
    projectId: projectId || undefined,
    groupPath: groupPath || undefined,
    members: members.length > 0 || isEmpty('members') ? members : undefined,
    counts: counts.length > 0 || isEmpty('counts') ? Object.fromEntries(counts) : undefined,
  };
}

/** `name: 12`, one a line. */
const COUNT = /^(.*\S)\s*:\s*(\d{1,16})\s*$/;
const countLines = (text: string): string[] => text.split('\n').filter((one) => one.trim() !== '');

const OF_SPEC: ReadonlySet<string> = new Set(['malformed-json', 'payload-too-large', 'overloaded']);

/** Brings problems of the spec back at its field. @throws {validation-failed} for that */
export async function atSpec<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    return refuse([specProblem(error)]);
  }
}

/** Problems of the spec in an error. Throws every other error. */
function specProblem(error: unknown): FieldProblem {
  if (!isTrackportError(error) || !OF_SPEC.has(error.code)) throw error;
  const detail = error.detail ?? 'The spec cannot be read.';
  return { pointer: '#/spec', code: error.code, detail };
}

import { z } from 'zod';
import { type Content, SPEC_BYTES_MAX, type VersionRecord } from '#catalog/version/artifact.ts';
import type { FieldProblem } from '#shared/errors.ts';

/** A form writes one byte as three at most. Beside the spec there are members and short texts. */
export const DRAFT_FORM_BYTES_MAX = 3 * (SPEC_BYTES_MAX + 256 * 1024);

/** Far more than any of them may have in the end: what is longer is not looked at at all. */
const LINE_CHARACTERS_MAX = 4096;
const LINES_CHARACTERS_MAX = 256 * 1024;

const text = (charactersMax: number) =>
  z
    .string('must be given once')
    .max(charactersMax, `must have at most ${charactersMax} characters`);
const line = text(LINE_CHARACTERS_MAX).trim();
const lines = text(LINES_CHARACTERS_MAX);

const contentFields = {
  type: line,
  owner: line,
  title: line,
  description: lines,
  source: line,
  projectId: line,
  groupPath: line,
  members: lines,
  counts: lines,
  spec: z.string('must be given once'),
};

export const newDraftForm = z.looseObject({ id: line, version: line, ...contentFields });
export const draftForm = z.looseObject({ ...contentFields, seen: line });
export const describeForm = z.looseObject({
  owner: line,
  title: line,
  description: lines,
  groupPath: line,
  seen: line,
});

/** What is written about a version, as the form has it. */
export type ContentFields = z.output<z.ZodObject<typeof contentFields>>;

/** The content that a form describes, without its spec and counts that cannot be read. */
export function toContent(form: ContentFields): Omit<Content, 'specText'> {
  const { type, owner, title, source } = form;
  const members = form.members.split(/[\s,]+/).filter((id) => id !== '');
  const counts = toCounts(form.counts);
  return {
    type,
    owner,
    title,
    source,
    ...filled('description', form.description.trim()),
    ...filled('projectId', form.projectId),
    ...filled('groupPath', form.groupPath),
    ...(members.length > 0 && { members }),
    counts,
  };
}

function filled<Name extends string>(name: Name, text: string): Partial<Record<Name, string>> {
  return text === '' ? {} : ({ [name]: text } as Record<Name, string>);
}

const COUNT = /^(.*\S)\s*:\s*(\d{1,16})\s*$/;

const countLines = (text: string): string[] => text.split('\n').filter((one) => one.trim() !== '');

/** `name: 12`, one a line. */
function toCounts(text: string): Record<string, number> | undefined {
  const counts = countLines(text).flatMap((one) => {
    const [, name = '', digits = ''] = COUNT.exec(one) ?? [];
    return name === '' ? [] : [[name, Number(digits)] as const];
  });
  return counts.length > 0 ? Object.fromEntries(counts) : undefined;
}

/** What the form itself finds wrong with its counts. */
export function countsProblems(text: string): FieldProblem[] {
  if (countLines(text).every((one) => COUNT.test(one))) return [];
  return [problem('counts', 'pattern', 'A count is a name, a colon and a whole number.')];
}

/** What is wrong with one field of a form. */
export function problem(field: string, code: string, detail: string): FieldProblem {
  return { pointer: `#/${field}`, code, detail };
}

/** A version's content as the form shows it; the spec apart. */
export function toFields(record: VersionRecord): Record<keyof ContentFields, string> {
  const { type, owner, title, source } = record;
  const { description = '', projectId = '', groupPath = '', members = [], counts = {} } = record;
  return {
    type,
    owner,
    title,
    source,
    description,
    projectId,
    groupPath,
    members: members.join('\n'),
    counts: Object.entries(counts)
      .map(([name, n]) => `${name}: ${n}`)
      .join('\n'),
    spec: '',
  };
}

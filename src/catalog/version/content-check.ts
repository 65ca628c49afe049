import { type FieldProblem, refuse, TrackportError } from '#shared/errors.ts';
import { escapePointer, isRecord } from '#shared/text/json.ts';
import { isLongerThan, isVisible } from '#shared/text/visible.ts';
import {
  ARTIFACT_ID,
  type Content,
  COUNT_KEY_CHARACTERS_MAX,
  COUNT_KEYS_MAX,
  DESCRIPTION_CHARACTERS_MAX,
  foldId,
  GROUP_PATH_CHARACTERS_MAX,
  GROUP_PATH_SEGMENTS_MAX,
  isComputedCount,
  isGroupPath,
  isPrintable,
  MEMBERS_MAX,
  OWNER_CHARACTERS_MAX,
  PROJECT_ID_CHARACTERS_MAX,
  SPEC_BYTES_MAX,
  TITLE_CHARACTERS_MAX,
  VERSION,
} from './artifact.ts';

/** What an owner writes, and where. `version` is absent when Trackport is to choose it. */
export type Draft = Content & { id: string; version?: string };

/** The words that are known: `coreTypes`, `coreSources` and those of the configuration. */
export type Words = { types: readonly string[]; sources: readonly string[] };

/**
 * Refuses a draft with everything that is wrong with it. The shape is taken for granted.
 * @throws {validation-failed} with a pointer for each
 * @throws {payload-too-large} for a spec of more than 5 MiB
 */
export function checkDraft(draft: Draft, words: Words): void {
  const problems = draftProblems(draft, words);
  if (problems.length > 0) refuse(problems);
  checkSpecSize(draft.specText);
}

/** What is wrong with a draft beside its spec. */
export function draftProblems(draft: Omit<Draft, 'specText'>, words: Words): FieldProblem[] {
  return [...nameProblems(draft), ...contentProblems(draft, words)];
}

const TEXT_FIELDS = ['type', 'owner', 'title', 'description', 'source', 'projectId', 'groupPath'];

/**
 * What is wrong with the content of a body of any shape. Only values of the right kind are looked at:
 * the schema reports the others.
 */
export function problemsInBody(body: unknown, words: Words): FieldProblem[] {
  if (!isRecord(body)) return [];
  const texts = TEXT_FIELDS.filter((name) => typeof body[name] === 'string');
  return contentProblems(
    {
      ...(Object.fromEntries(texts.map((name) => [name, body[name]])) as Partial<Content>),
      ...(Array.isArray(body['members']) && { members: body['members'] as string[] }),
      ...(isRecord(body['counts']) && { counts: body['counts'] as Record<string, number> }),
    },
    words,
  );
}

/** What is wrong with the words of a filter, each a query parameter of its name. */
export function filterProblems(filter: unknown, words: Words): FieldProblem[] {
  if (!isRecord(filter)) return [];
  const found = [
    ...wordProblems('type', filter['type'], words.types),
    ...wordProblems('source', filter['source'], words.sources),
  ];
  return found.map(({ pointer = '', code, detail }) => ({
    parameter: pointer.slice('#/'.length),
    code,
    detail,
  }));
}

function nameProblems({ id, version }: Pick<Draft, 'id' | 'version'>): FieldProblem[] {
  return [
    ...problem(!ARTIFACT_ID.test(id), '#/id', 'pattern', ID_RULE),
    ...problem(
      version !== undefined && !VERSION.test(version),
      '#/version',
      'pattern',
      VERSION_RULE,
    ),
  ];
}

export const ID_RULE =
  'An id has 1 to 128 letters, digits, dots, underscores and hyphens, with a letter or digit at both ends.';
export const VERSION_RULE =
  'A version has 1 to 64 letters, digits, dots, underscores and hyphens, with a letter or digit at both ends.';

/** What is wrong with fields of a version, PATCH's among them. */
export function contentProblems(
  content: Partial<Omit<Content, 'specText'>>,
  words: Words,
): FieldProblem[] {
  const { groupPath } = content;
  return [
    ...textProblems('title', content.title, TITLE_CHARACTERS_MAX),
    ...textProblems('owner', content.owner, OWNER_CHARACTERS_MAX),
    ...textProblems('description', content.description, DESCRIPTION_CHARACTERS_MAX),
    ...textProblems('projectId', content.projectId, PROJECT_ID_CHARACTERS_MAX),
    ...wordProblems('type', content.type, words.types),
    ...wordProblems('source', content.source, words.sources),
    ...problem(
      groupPath !== undefined && !isGroupPath(groupPath),
      '#/groupPath',
      'pattern',
      `A group path has 1 to ${GROUP_PATH_SEGMENTS_MAX} segments with "/" between them, each with a character that can be seen, and at most ${GROUP_PATH_CHARACTERS_MAX} characters.`,
    ),
    ...memberProblems(content.members ?? []),
    ...countProblems(content.counts ?? {}),
  ];
}

function wordProblems(field: string, word: unknown, known: readonly string[]): FieldProblem[] {
  const isUnknown = typeof word === 'string' && !known.includes(word);
  return problem(
    isUnknown,
    `#/${field}`,
    `unknown-${field}`,
    `A ${field} is one of ${known.join(', ')}.`,
  );
}

function textProblems(field: string, text: string | undefined, max: number): FieldProblem[] {
  if (text === undefined) return [];
  const pointer = `#/${field}`;
  return [
    ...problem(
      !isVisible(text),
      pointer,
      'too-short',
      `The ${field} must not be blank: give it a character that can be seen.`,
    ),
    ...problem(
      isLongerThan(text, max),
      pointer,
      'too-long',
      `The ${field} has more than ${max} characters.`,
    ),
    ...problem(
      !isPrintable(text),
      pointer,
      'pattern',
      `The ${field} has control characters or half a surrogate pair.`,
    ),
  ];
}

function memberProblems(members: readonly string[]): FieldProblem[] {
  if (members.length > MEMBERS_MAX)
    return problem(true, '#/members', 'too-many', `More than ${MEMBERS_MAX} members.`);
  const seen = new Set<string>();
  return members.flatMap((id: unknown, index) => {
    if (typeof id !== 'string') return [];
    if (!ARTIFACT_ID.test(id)) return problem(true, `#/members/${index}`, 'pattern', ID_RULE);
    const isRepeated = seen.has(foldId(id));
    seen.add(foldId(id));
    return [
      ...problem(
        isRepeated,
        `#/members/${index}`,
        'repeated',
        `The member "${id}" stands there twice.`,
      ),
    ];
  });
}

function countProblems(counts: Record<string, number>): FieldProblem[] {
  const entries = Object.entries(counts);
  if (entries.length > COUNT_KEYS_MAX)
    return problem(true, '#/counts', 'too-many', `More than ${COUNT_KEYS_MAX} counts.`);
  return entries.flatMap(([name, value]) => {
    const rule = `A count's name has 1 to ${COUNT_KEY_CHARACTERS_MAX} printable characters, one of them visible.`;
    if (isLongerThan(name, COUNT_KEY_CHARACTERS_MAX))
      return problem(true, '#/counts', 'pattern', rule);
    const pointer = `#/counts/${pointerPart(name)}`;
    return [
      ...problem(!isVisible(name) || !isPrintable(name), pointer, 'pattern', rule),
      ...problem(isComputedCount(name), pointer, 'read-only', `The count "${name}" is computed.`),
      ...problem(
        typeof value === 'number' && (!Number.isSafeInteger(value) || value < 0),
        pointer,
        'out-of-range',
        'A count is a whole number from 0 to 9007199254740991.',
      ),
    ];
  });
}

function checkSpecSize(specText: string | undefined): void {
  if (specText === undefined || Buffer.byteLength(specText) <= SPEC_BYTES_MAX) return;
  const detail = `The spec has more than ${SPEC_BYTES_MAX} bytes (5 MiB) as compact JSON.`;
  throw new TrackportError('payload-too-large', {
    detail,
    errors: [{ pointer: '#/spec', code: 'too-large', detail }],
  });
}

function problem(isWrong: boolean, pointer: string, code: string, detail: string): FieldProblem[] {
  return isWrong ? [{ pointer, code, detail }] : [];
}

function pointerPart(key: string): string {
  const escaped = escapePointer(key).toWellFormed();
  return encodeURI(escaped).replaceAll('#', '%23');
}

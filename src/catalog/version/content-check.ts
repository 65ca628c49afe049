import { refuse, TrackportError, type FieldProblem } from '#shared/errors.ts';
import {
  ARTIFACT_ID,
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
  type Content,
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
  const problems = [
    ...problem(!ARTIFACT_ID.test(draft.id), '#/id', 'pattern', ID_RULE),
    ...problem(
      draft.version !== undefined && !VERSION.test(draft.version),
      '#/version',
      'pattern',
      VERSION_RULE,
    ),
    ...contentProblems(draft, words),
    ...memberProblems(draft.members ?? []),
    ...countProblems(draft.counts ?? {}),
  ];
  if (problems.length > 0) refuse(problems);
  checkSpecSize(draft.specText);
}

export const ID_RULE =
  'An id has 1 to 128 letters, digits, dots, underscores and hyphens, with a letter or digit at both ends.';
export const VERSION_RULE =
  'A version has 1 to 64 letters, digits, dots, underscores and hyphens, with a letter or digit at both ends.';

/** What is wrong with the fields that PATCH can change, too. */
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
      `A group path has 1 to ${GROUP_PATH_SEGMENTS_MAX} segments with "/" between them, none empty, and at most ${GROUP_PATH_CHARACTERS_MAX} characters.`,
    ),
  ];
}

function wordProblems(
  field: string,
  word: string | undefined,
  known: readonly string[],
): FieldProblem[] {
  const unknown = word !== undefined && !known.includes(word);
  return problem(
    unknown,
    `#/${field}`,
    `unknown-${field}`,
    `A ${field} is one of ${known.join(', ')}.`,
  );
}

function textProblems(field: string, text: string | undefined, max: number): FieldProblem[] {
  if (text === undefined) return [];
  const pointer = `#/${field}`;
  return [
    ...problem(text.trim() === '', pointer, 'too-short', `The ${field} must not be blank.`),
    ...problem(
      text.length > max,
      pointer,
      'too-long',
      `The ${field} has more than ${max} characters.`,
    ),
    ...problem(!isPrintable(text), pointer, 'pattern', `The ${field} has control characters.`),
  ];
}

function memberProblems(members: readonly string[]): FieldProblem[] {
  if (members.length > MEMBERS_MAX)
    return problem(true, '#/members', 'too-many', `More than ${MEMBERS_MAX} members.`);
  const seen = new Set<string>();
  return members.flatMap((id, index) => {
    const repeated = seen.has(foldId(id));
    seen.add(foldId(id));
    return [
      ...problem(!ARTIFACT_ID.test(id), `#/members/${index}`, 'pattern', ID_RULE),
      ...problem(
        repeated,
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
    const pointer = `#/counts/${pointerPart(name)}`;
    return [
      ...problem(
        name === '' || name.length > COUNT_KEY_CHARACTERS_MAX || !isPrintable(name),
        pointer,
        'pattern',
        `A count's name has 1 to ${COUNT_KEY_CHARACTERS_MAX} printable characters.`,
      ),
      ...problem(isComputedCount(name), pointer, 'read-only', `The count "${name}" is computed.`),
      ...problem(
        !Number.isSafeInteger(value) || value < 0,
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

function problem(wrong: boolean, pointer: string, code: string, detail: string): FieldProblem[] {
  return wrong ? [{ pointer, code, detail }] : [];
}

function pointerPart(key: string): string {
  const escaped = key.replaceAll('~', '~0').replaceAll('/', '~1').toWellFormed();
  return encodeURI(escaped).replaceAll('#', '%23');
}

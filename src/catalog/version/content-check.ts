/** The rules of a draft: for the API, whose description is made of them, for the portal and for imports. */
import { z } from 'zod';
import { type FieldProblem, refuse, TrackportError } from '#shared/errors.ts';
import { checkFields } from '#shared/field-problems.ts';
import { isRecord } from '#shared/text/json.ts';
import { isLongerThan, isVisible } from '#shared/text/visible.ts';
import {
  ARTIFACT_ID,
  CAPITAL_WORD,
  type Content,
  COUNT_KEY_CHARACTERS_MAX,
  COUNT_KEYS_MAX,
  coreSources,
  coreTypes,
  DESCRIPTION_CHARACTERS_MAX,
  foldId,
  GROUP_PATH_CHARACTERS_MAX,
  ID_CHARACTERS_MAX,
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
import type { Candidate } from './version-order.ts';

/** Content of a version that is to be. `version` is absent when Trackport is to choose it. */
export type Draft = Content & { id: string; version?: string };

/** The words that are known: `coreTypes`, `coreSources` and those of the configuration. */
export type Words = { types: readonly string[]; sources: readonly string[] };

/** A text of a filter; of a draft it must say something as well. */
export const text = (max: number) =>
  z
    .string('must be a text')
    .min(1, { error: 'must not be empty', abort: true })
    .max(max, `must have at most ${max} characters`);

const textIn = (max: number) =>
  text(max)
    .refine(isVisible, {
      error: 'must not be blank: give it a character that can be seen',
      params: { code: 'too-short' },
      abort: true,
    })
    .refine(isPrintable, {
      error: 'has control characters or half a surrogate pair',
      params: { code: 'pattern' },
    });

const id = z
  .string('must be a text')
  .regex(
    ARTIFACT_ID,
    'An id has 1 to 128 letters, digits, dots, underscores and hyphens, with a letter or digit at both ends.',
  )
  .max(ID_CHARACTERS_MAX, `must have at most ${ID_CHARACTERS_MAX} characters`);
export const versionText = (notText: string) =>
  z
    .string(notText)
    .regex(
      VERSION,
      'A version has 1 to 64 letters, digits, dots, underscores and hyphens, with a letter or digit at both ends.',
    );

export const groupPath = z
  .string('must be a text')
  .max(GROUP_PATH_CHARACTERS_MAX, `must have at most ${GROUP_PATH_CHARACTERS_MAX} characters`)
  .refine(
    isGroupPath,
    'must be 1 to 16 segments with "/" between them, each with a character that can be seen',
  )
  .describe('Segments with "/" between them, such as `payments/cards`.');

const word = (known: readonly string[]) =>
  z
    .string('must be a text')
    .regex(CAPITAL_WORD, `must be a word of capital letters such as ${known[0]}`)
    .describe(
      `One of ${known.map((name) => `\`${name}\``).join(', ')}, or one that the operator added.`,
    );
export const type = word(coreTypes);
export const source = word(coreSources);

type Refused = (rule: { path?: string[]; message: string; code: string }) => void;

/** For `superRefine`: `refused` takes what is wrong, at a place below. Also beside what is of another kind. */
const each =
  <T>(check: (value: T, refused: Refused) => void) =>
  (value: T, context: z.RefinementCtx<T>): void =>
    check(value, ({ code, ...rule }) =>
      context.addIssue({ code: 'custom', params: { code }, ...rule }),
    );

function checkMembers(ids: readonly unknown[], refused: Refused): void {
  const seen = new Set<string>();
  for (const [index, member] of ids.entries()) {
    if (typeof member !== 'string') continue;
    if (seen.has(foldId(member)))
      refused({ path: [String(index)], message: 'must stand there once', code: 'repeated' });
    seen.add(foldId(member));
  }
}

function checkCountNames(counts: Record<string, number>, refused: Refused): void {
  const names = Object.keys(counts);
  if (names.length > COUNT_KEYS_MAX)
    return refused({ message: `must have at most ${COUNT_KEYS_MAX} names`, code: 'too-many' });
  const message = `must have a name of 1 to ${COUNT_KEY_CHARACTERS_MAX} printable characters, one of them visible`;
  for (const name of names)
    if (isLongerThan(name, COUNT_KEY_CHARACTERS_MAX)) refused({ message, code: 'pattern' });
    else if (!isVisible(name) || !isPrintable(name))
      refused({ path: [name], message, code: 'pattern' });
    else if (isComputedCount(name))
      refused({ path: [name], message: 'is computed', code: 'read-only' });
}

const count = 'must be a whole number, 0 or more';

/** Fields of `Content`, in the order of the API's description; `spec` is a JSON text wherever it is held. */
const contentIn = {
  type,
  owner: textIn(OWNER_CHARACTERS_MAX),
  title: textIn(TITLE_CHARACTERS_MAX),
  description: textIn(DESCRIPTION_CHARACTERS_MAX).optional(),
  source: source.default('INLINE'),
  spec: z
    .record(z.string(), z.unknown(), 'must be an object')
    .optional()
    .describe(
      'Any JSON object, at most 5 MiB and 64 levels; kept with its nulls and every digit. OpenAPI and AsyncAPI documents are validated.',
    ),
  projectId: textIn(PROJECT_ID_CHARACTERS_MAX).optional(),
  groupPath: groupPath.optional(),
  members: z
    .array(id, 'must be an array of ids')
    .max(MEMBERS_MAX, `must name at most ${MEMBERS_MAX} members`)
    .superRefine(each(checkMembers), { when: ({ value }) => Array.isArray(value) })
    .optional()
    .describe('Ids of artifacts, in the order in which they are to be shown.'),
  counts: z
    .record(
      z.string().meta({ minLength: 1, maxLength: COUNT_KEY_CHARACTERS_MAX }),
      z.int(count).min(0, count),
    )
    .superRefine(each(checkCountNames), { when: ({ value }) => isRecord(value) })
    .optional()
    .meta({
      description: 'Numbers of your own; `versions`, `members` and `members.<TYPE>` are computed.',
      maxProperties: COUNT_KEYS_MAX,
    }),
};

/** The body of a create. */
export const draftIn = z
  .strictObject({ id, version: versionText('must be a text').optional(), ...contentIn })
  .meta({ id: 'ArtifactDraft', description: 'A new version of an artifact.' });

/** The body of a replace: the whole content. */
export const contentOnlyIn = z
  .strictObject({
    id: id.optional(),
    version: versionText('must be a text').optional(),
    ...contentIn,
  })
  .meta({
    id: 'ArtifactContent',
    description:
      'The whole new content of a draft. `id` and `version`, if there, are those of the address.',
  });

/** The body of an edit: a JSON merge patch (RFC 7396) of four fields. */
export const patchIn = z
  .strictObject({
    title: contentIn.title.optional(),
    owner: contentIn.owner.optional(),
    description: textIn(DESCRIPTION_CHARACTERS_MAX).nullable().optional(),
    groupPath: groupPath.nullable().optional(),
  })
  .meta({ id: 'ArtifactPatch', description: 'What changes; `null` takes an optional field away.' });

export type Patch = z.output<typeof patchIn>;

/**
 * Refuses a draft with everything that is wrong with it.
 * @throws {validation-failed} with a pointer for each
 * @throws {payload-too-large} for a spec of more than 5 MiB
 */
export function checkDraft(draft: Draft, words: Words): void {
  const { specText, ...fields } = draft;
  const problems = draftProblems(fields, words);
  if (problems.length > 0) refuse(problems);
  checkSpecSize(specText);
}

/** Problems of a draft beside its spec. */
export function draftProblems(draft: Omit<Draft, 'specText'>, words: Words): FieldProblem[] {
  const checked = checkFields(draftIn, 'body', draft);
  const problems = 'problems' in checked ? checked.problems : [];
  const known = new Set(problems.map(({ pointer }) => pointer));
  return [
    ...problems,
    ...problemsInBody(draft, words).filter(({ pointer }) => !known.has(pointer)),
  ];
}

/**
 * Problems that the schema of a body cannot find: types and sources that the configuration does not have, and a name
 * that it does not look at.
 */
export function problemsInBody(body: unknown, words: Words): FieldProblem[] {
  const ofWords = wordProblems(body, words).map(({ field, ...problem }) => ({
    pointer: `#/${field}`,
    ...problem,
  }));
  return isRecord(body) && isRecord(body['counts']) && Object.hasOwn(body['counts'], '__proto__')
    ? [...ofWords, PROTO_COUNT]
    : ofWords;
}

/** No JSON that Trackport reads may have that name. */
const PROTO_COUNT: FieldProblem = {
  pointer: '#/counts/__proto__',
  code: 'pattern',
  detail: 'A count cannot have the name `__proto__`.',
};

/** Problems of the words of a filter, each a query parameter of its name. */
export function filterProblems(filter: unknown, words: Words): FieldProblem[] {
  return wordProblems(filter, words).map(({ field, ...problem }) => ({
    parameter: field,
    ...problem,
  }));
}

function wordProblems(fields: unknown, { types, sources }: Words) {
  if (!isRecord(fields)) return [];
  return Object.entries({ type: types, source: sources }).flatMap(([field, known]) => {
    const word = fields[field];
    if (typeof word !== 'string' || known.includes(word)) return [];
    const detail = `A ${field} is one of ${known.join(', ')}.`;
    return [{ field, code: `unknown-${field}`, detail }];
  });
}

/**
 * An artifact has one type, that of its first version. `versions` are all of the artifact; a version to be made
 * has no `serial`.
 * @throws {validation-failed} for a version of another type
 */
export function requireType(
  versions: readonly Candidate[],
  version: { serial?: number; type: string },
): void {
  const [first] = versions
    .filter(({ serial }) => serial !== version.serial)
    .toSorted((left, right) => left.serial - right.serial);
  if (first === undefined || first.type === version.type) return;
  refuse([
    {
      pointer: '#/type',
      code: 'mismatch',
      detail: `The artifact is of the type ${first.type}, that of its first version. Send "${first.type}", or choose another id.`,
    },
  ]);
}

function checkSpecSize(specText: string | undefined): void {
  if (specText === undefined || Buffer.byteLength(specText) <= SPEC_BYTES_MAX) return;
  const detail = `The spec has more than ${SPEC_BYTES_MAX} bytes (5 MiB) as compact JSON.`;
  throw new TrackportError('payload-too-large', {
    detail,
    errors: [{ pointer: '#/spec', code: 'too-large', detail }],
  });
}

import { z } from 'zod';
import {
  ARTIFACT_ID,
  CAPITAL_WORD,
  COUNT_KEY_CHARACTERS_MAX,
  COUNT_KEYS_MAX,
  coreSources,
  coreTypes,
  DESCRIPTION_CHARACTERS_MAX,
  GROUP_PATH_CHARACTERS_MAX,
  ID_CHARACTERS_MAX,
  isGroupPath,
  lifecycles,
  MEMBERS_MAX,
  OWNER_CHARACTERS_MAX,
  PROJECT_ID_CHARACTERS_MAX,
  TITLE_CHARACTERS_MAX,
  VERSION,
} from '#catalog/version/artifact.ts';
import { sunsetOfDay } from '#catalog/lifecycle/lifecycle.ts';
import { ID_RULE, VERSION_RULE } from '#catalog/version/content-check.ts';
import { isSearchable, SEARCH_TERMS_MAX } from '#catalog/reading/search-terms.ts';
import { parseSince } from '#shared/clock.ts';
import { ENTITY_TAGS } from '../../requests/precondition.ts';
import { atMost, DAY_OR_INSTANT, pageParameters } from '../../requests/parameters.ts';

const SEARCH_CHARACTERS_MAX = 200;

const text = (max: number) =>
  atMost(
    z.string('must be a text').min(1, 'must not be empty'),
    max,
    `must have at most ${max} characters`,
  );
const count = 'must be a whole number, 0 or more';
const id = z
  .string('must be a text')
  .regex(ARTIFACT_ID, ID_RULE)
  .max(ID_CHARACTERS_MAX, `must have at most ${ID_CHARACTERS_MAX} characters`);
const versionOf = (notText: string) => z.string(notText).regex(VERSION, VERSION_RULE);
const version = versionOf('must be given once');
const versionIn = versionOf('must be a text');
const groupPath = atMost(
  z.string('must be a text'),
  GROUP_PATH_CHARACTERS_MAX,
  `must have at most ${GROUP_PATH_CHARACTERS_MAX} characters`,
)
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
const type = word(coreTypes);
const source = word(coreSources);

const contentIn = {
  type,
  owner: text(OWNER_CHARACTERS_MAX),
  title: text(TITLE_CHARACTERS_MAX),
  description: text(DESCRIPTION_CHARACTERS_MAX).optional(),
  source: source.default('INLINE'),
  spec: z
    .record(z.string(), z.unknown(), 'must be an object')
    .optional()
    .describe(
      'Any JSON object, at most 5 MiB and 64 levels; kept with its nulls and every digit. OpenAPI and AsyncAPI documents are validated.',
    ),
  projectId: text(PROJECT_ID_CHARACTERS_MAX).optional(),
  groupPath: groupPath.optional(),
  members: z
    .array(id, 'must be an array of ids')
    .max(MEMBERS_MAX, `must name at most ${MEMBERS_MAX} members`)
    .optional()
    .describe('Ids of artifacts, in the order in which they are to be shown.'),
  counts: z
    .record(
      z.string().meta({ minLength: 1, maxLength: COUNT_KEY_CHARACTERS_MAX }),
      z.int(count).min(0, count),
    )
    .optional()
    .meta({
      description: 'Numbers of your own; `versions`, `members` and `members.<TYPE>` are computed.',
      maxProperties: COUNT_KEYS_MAX,
    }),
};

/** The body of a create. */
export const draftIn = z
  .strictObject({ id, version: versionIn.optional(), ...contentIn })
  .meta({ id: 'ArtifactDraft', description: 'A new version of an artifact.' });

/** The body of a replace: the whole content. */
export const contentOnlyIn = z
  .strictObject({ id: id.optional(), version: versionIn.optional(), ...contentIn })
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
    description: text(DESCRIPTION_CHARACTERS_MAX).nullable().optional(),
    groupPath: groupPath.nullable().optional(),
  })
  .meta({ id: 'ArtifactPatch', description: 'What changes; `null` takes an optional field away.' });

export const artifactParams = z.object({
  id: z.string().meta({ description: 'In any case.', pattern: ARTIFACT_ID.source }),
});

const optionalVersion = version
  .optional()
  .describe('Name it: what a call without it means can change at any time.');

export const versionQuery = z.strictObject({ version: optionalVersion });
export const namedVersionQuery = z.strictObject({ version });
export const publishQuery = z.strictObject({
  version: optionalVersion,
  breaking: z
    .enum(['accept'], 'must be `accept`')
    .optional()
    .describe('`accept`: also with breaking changes, where they block. The audit keeps it.'),
});
export const retireQuery = z.strictObject({
  version: optionalVersion,
  early: z
    .enum(['true', 'false'], 'must be `true` or `false`')
    .optional()
    .describe('`true`: also while the sunset lies ahead.'),
});
export const diffQuery = z.strictObject({
  from: version
    .optional()
    .describe('By default the highest PUBLISHED or DEPRECATED version below `to`.'),
  to: version.optional().describe('By default the version that a read returns.'),
});

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** A sunset in a query; what comes out are milliseconds. */
export const sunsetParameter = z
  .string('must be given once')
  .max(64, 'is too long')
  .meta({ pattern: DAY_OR_INSTANT })
  .transform((given, context) => {
    const instant = parseSince(DATE.test(given) ? sunsetOfDay(given) : given);
    if (instant !== undefined) return instant;
    context.addIssue({
      code: 'custom',
      message:
        'must be a date (2027-01-31) or an RFC 3339 date-time with a zone (2027-01-31T18:00:00Z)',
    });
    return z.NEVER;
  })
  .meta({
    description:
      'From when on the version may be gone, ahead of now: an RFC 3339 date-time, or a date, which stands for its last second in UTC.',
  });

export const deprecateQuery = z.strictObject({
  version: optionalVersion,
  sunset: sunsetParameter.optional(),
});

export const catalogQuery = z.strictObject({
  ...pageParameters,
  type: type.optional(),
  lifecycle: z.enum(lifecycles, `must be one of ${lifecycles.join(', ')}`).optional(),
  owner: text(OWNER_CHARACTERS_MAX).optional(),
  source: source.optional(),
  groupPath: groupPath.optional().describe('The group itself and all below it.'),
  projectId: text(PROJECT_ID_CHARACTERS_MAX).optional(),
  q: text(SEARCH_CHARACTERS_MAX)
    .refine((given) => isSearchable(given), {
      error: `must have 1 to ${SEARCH_TERMS_MAX} words of letters and digits`,
      params: { code: 'out-of-range' },
    })
    .optional()
    .describe(
      'Full text over id, title, description, owner and group path: each word must begin a word there.',
    ),
  versions: z
    .enum(['all'], 'must be `all`')
    .optional()
    .describe('Every version instead of one row per artifact.'),
});

export const ifMatchHeader = z.object({
  'If-Match': z
    .string()
    .regex(ENTITY_TAGS, 'must be `*` or a list of entity tags in double quotes')
    .optional()
    .describe('The `ETag` that the change is based on, or `*`.'),
});

import { z } from 'zod';
import {
  ARTIFACT_ID,
  lifecycles,
  OWNER_CHARACTERS_MAX,
  PROJECT_ID_CHARACTERS_MAX,
} from '#catalog/version/artifact.ts';
import { sunsetOfDay } from '#catalog/lifecycle/transitions.ts';
import { groupPath, source, text, type, versionText } from '#catalog/version/content-check.ts';
import { isSearchable, SEARCH_TERMS_MAX } from '#catalog/reading/search-terms.ts';
import { parseSince } from '#shared/clock.ts';
import { ENTITY_TAGS } from '../../requests/headers.ts';
import { DAY_OR_INSTANT, pageParameters, parsedBy } from '../../requests/parameters.ts';

const SEARCH_CHARACTERS_MAX = 200;

const version = versionText('must be given once');

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
    .describe('`true`: also while the sunset lies ahead or somebody reads the version.'),
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
  .transform(
    parsedBy(
      (text) => parseSince(DATE.test(text) ? sunsetOfDay(text) : text),
      'must be a date (2027-01-31) or an RFC 3339 date-time with a zone (2027-01-31T18:00:00Z)',
    ),
  )
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
    .refine((query) => isSearchable(query), {
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

/** The names of the headers of a version, those of a deprecated one among them, for openapi.json. */
export const versionHeaderNames = [
  'ETag',
  'Cache-Control',
  'Vary',
  'Content-Location',
  'Deprecation',
  'Sunset',
  'Link',
] as const;

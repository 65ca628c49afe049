import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  deprecateVersion,
  reinstateVersion,
  retireVersion,
  setDefault,
  sunsetProblems,
  unsetDefault,
} from '#catalog/lifecycle/change-lifecycle.ts';
import { publishVersion } from '#catalog/lifecycle/publish.ts';
import { artifactOut } from '#catalog/version/version-out.ts';
import { sunsetOfDay } from '#catalog/lifecycle/transitions.ts';
import { parseSince } from '#shared/clock.ts';
import { callerOf } from '../../auth/catalog-access.ts';
import type { BearerContext, HttpApp } from '../../context.ts';
import { parseIfMatch } from '../../requests/entity-tags.ts';
import { describeRoute, withCheck } from '../../route.ts';
import {
  artifactParams,
  ifMatchHeader,
  optionalVersion,
  respondWithVersion,
  sendResponse,
  version,
  versionHeaderNames,
  versionQuery,
  versionResponse,
} from './version.ts';
import { DAY_OR_INSTANT, idempotencyHeader, parsedBy } from '../../requests/parameters.ts';

const PATH = '/api/v1/catalog/:id';

/** Publishing, deprecating, reinstating, retiring; the default version. */
export function addCatalogLifecycle(app: HttpApp, context: BearerContext): void {
  const { catalog } = context;
  app.post(`${PATH}/publish`, lifecycleRoutes.publish, async (request, reply) => {
    const { breaking, ...target } = targetOf(request);
    const publication = { ...target, acceptsBreaking: breaking === 'accept' };
    return respondWithVersion(context, { request, reply }, (caller) =>
      publishVersion(catalog, caller, publication),
    );
  });
  const checkSunset = ({ query }: FastifyRequest) => {
    const at = instantOf((query as { sunset?: unknown }).sunset);
    return at === undefined ? [] : sunsetProblems(at, catalog.clock.now());
  };
  app.post(`${PATH}/deprecate`, withCheck(deprecateRoute, checkSunset), async (request, reply) => {
    const { sunset: sunsetAt, ...target } = targetOf(request);
    return respondWithVersion(context, { request, reply }, (caller) =>
      deprecateVersion(catalog, caller, { ...target, sunsetAt }),
    );
  });
  app.post(`${PATH}/reinstate`, lifecycleRoutes.reinstate, async (request, reply) =>
    respondWithVersion(context, { request, reply }, (caller) =>
      reinstateVersion(catalog, caller, targetOf(request)),
    ),
  );
  app.post(`${PATH}/retire`, lifecycleRoutes.retire, async (request, reply) => {
    const { early, ...target } = targetOf(request);
    const retirement = { ...target, isEarly: early === 'true' };
    return respondWithVersion(context, { request, reply }, (caller) =>
      retireVersion(catalog, caller, retirement),
    );
  });
  addDefault(app, context);
}

/** Which version a read without `version` returns. */
function addDefault(app: HttpApp, { catalog }: BearerContext): void {
  app.put(`${PATH}/default`, defaultRoute, async (request, reply) => {
    const view = await setDefault(catalog, callerOf(request), targetOf(request));
    return sendResponse(reply, versionResponse(view));
  });
  app.delete(`${PATH}/default`, unsetDefaultRoute, async (request, reply) => {
    const view = await unsetDefault(catalog, callerOf(request), targetOf(request));
    return sendResponse(reply, versionResponse(view));
  });
}

/** A sunset as the schema left it: read, or as it was given beside something wrong. */
function instantOf(sunset: unknown): number | undefined {
  return typeof sunset === 'number' ? sunset : sunsetParameter.safeParse(sunset).data;
}

/** Which version is meant, in which state, and how. */
function targetOf<Query>(request: {
  params: { id: string };
  query: Query;
  headers: { 'if-match'?: string | undefined };
}) {
  const ifMatch = parseIfMatch(request.headers['if-match']);
  return { ...request.params, ...request.query, ifMatch };
}

const namedVersionQuery = z.strictObject({ version });
const publishQuery = z.strictObject({
  version: optionalVersion,
  breaking: z
    .enum(['accept'], 'must be `accept`')
    .optional()
    .describe('`accept`: also with breaking changes, where they block. The audit keeps it.'),
});
const retireQuery = z.strictObject({
  version: optionalVersion,
  early: z
    .enum(['true', 'false'], 'must be `true` or `false`')
    .optional()
    .describe('`true`: also while the sunset lies ahead or somebody reads the version.'),
});
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** A sunset in a query; what comes out are milliseconds. */
const sunsetParameter = z
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

const deprecateQuery = z.strictObject({
  version: optionalVersion,
  sunset: sunsetParameter.optional(),
});

const headers = ifMatchHeader.extend(idempotencyHeader.shape);

const problems = [
  'artifact-not-found',
  'invalid-lifecycle-transition',
  'precondition-failed',
  'idempotency-in-progress',
  'idempotency-mismatch',
] as const;

const common = {
  tag: 'Catalog',
  scope: 'catalog:publish',
  ok: { 200: { description: 'The version as it is now.', schema: artifactOut } },
  headers: [...versionHeaderNames, 'Idempotent-Replayed'],
} as const;

const request = { params: artifactParams, querystring: versionQuery, headers };

const lifecycleRoutes = {
  publish: describeRoute({
    ...common,
    operationId: 'publishArtifactVersion',
    summary: 'Publish a draft',
    description:
      'Scope `catalog:publish`. Its content is frozen from then on. What breaks against the highest published version of the same major number is a finding; where the operator wants that to block, `breaking` must be `accept`. Without `version`: the only draft.',
    request: { params: artifactParams, querystring: publishQuery, headers },
    problems: ['spec-invalid', 'breaking-change', ...problems],
  }),
  reinstate: describeRoute({
    ...common,
    operationId: 'reinstateArtifactVersion',
    summary: 'Take a deprecation back',
    description:
      'Scope `catalog:publish`. The sunset is forgotten. Without `version`: the only deprecated one.',
    request,
    problems,
  }),
  retire: describeRoute({
    ...common,
    operationId: 'retireArtifactVersion',
    summary: 'Retire a deprecated version',
    description:
      'Scope `catalog:publish`. It can still be read by its name, and never changes again. A version whose sunset lies ahead, or that somebody read in the last 30 days, is refused (409, with `readers`), unless `early` is `true`. Without `version`: the only deprecated one.',
    request: { params: artifactParams, querystring: retireQuery, headers },
    problems: ['version-in-use', ...problems],
  }),
};

const deprecateRoute = describeRoute({
  ...common,
  operationId: 'deprecateArtifactVersion',
  summary: 'Deprecate a published version',
  description:
    'Scope `catalog:publish`. Without `version`: the version that a read returns, when it is PUBLISHED. A deprecated one named by `version` gets the new `sunset`.',
  request: { params: artifactParams, querystring: deprecateQuery, headers },
  problems,
});

const defaultProblems = problems.filter((code) => !code.startsWith('idempotency'));

const defaultRoute = describeRoute({
  ...common,
  operationId: 'setDefaultArtifactVersion',
  summary: 'Set the version that a read without `version` returns',
  description: 'Scope `catalog:publish`. It must be PUBLISHED or DEPRECATED.',
  request: { params: artifactParams, querystring: namedVersionQuery, headers: ifMatchHeader },
  problems: defaultProblems,
});

const unsetDefaultRoute = describeRoute({
  ...common,
  operationId: 'unsetDefaultArtifactVersion',
  summary: 'Compute again which version a read without `version` returns',
  description:
    'Scope `catalog:publish`. The response is the version that is the default now; the same where none was set. `If-Match` is of the default version.',
  request: { params: artifactParams, headers: ifMatchHeader },
  problems: [
    ...defaultProblems.filter((code) => code !== 'invalid-lifecycle-transition'),
    'no-published-version',
  ],
});

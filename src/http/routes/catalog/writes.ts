import type { FastifyRequest } from 'fastify';
import {
  createVersion,
  deleteVersion,
  patchVersion,
  replaceVersion,
} from '#catalog/version/write-version.ts';
import { artifactOut } from '#catalog/version/version-out.ts';
import { type Content, foldId } from '#catalog/version/artifact.ts';
import type { FieldProblem } from '#shared/errors.ts';
import { isRecord } from '#shared/text/json.ts';
import { contentOnlyIn, draftIn, patchIn, problemsInBody } from '#catalog/version/content-check.ts';
import { callerOf } from '../../auth/catalog-access.ts';
import { type BearerContext, hangUpOf, type HttpApp } from '../../context.ts';
import { parseIfMatch } from '../../requests/entity-tags.ts';
import { idempotencyHeader } from '../../requests/parameters.ts';
import { describeRoute, withCheck } from '../../route.ts';
import {
  addressOf,
  artifactParams,
  ifMatchHeader,
  respondWithVersion,
  sendResponse,
  versionHeaderNames,
  versionQuery,
  versionResponse,
} from './version.ts';
import { takeBodies, toBody } from '../../requests/body.ts';

const PATH = '/api/v1/catalog';

/** Bytes of a body that may hold a spec of 5 MiB. */
const SPEC_BODY_BYTES_MAX = 6 * 1024 * 1024;

/**
 * In this scope a body may hold a spec. In `request.body` stands an empty object in its place, and
 * its text is in `request.spec`: as a value it would cost everybody who looks at the body.
 */
export function acceptSpecJson(app: HttpApp, { readBody, readSpecBody }: BearerContext): void {
  const types = ['application/json', 'application/merge-patch+json'];
  takeBodies(app, { types, read: readBody }, (request, bytes) =>
    toBody(request, bytes, async () => {
      const { value, spec } = await readSpecBody(bytes, hangUpOf(request));
      request.spec = spec;
      return value;
    }),
  );
}

/** Creating, replacing, editing and deleting versions. */
export function addCatalogWrites(app: HttpApp, { catalog, idempotency }: BearerContext): void {
  const checkDraft = ({ body }: FastifyRequest) => problemsInBody(body, catalog.rules());
  app.post(PATH, withCheck(createRoute, checkDraft), async (request, reply) => {
    const { id, version, ...body } = request.body;
    const draft = { ...toContent(body, request), id, version };
    return respondWithVersion({ idempotency }, { request, reply }, (caller) =>
      createVersion(catalog, caller, draft),
    );
  });
  const checkReplace = (request: FastifyRequest) => [
    ...addressProblems(request),
    ...checkDraft(request),
  ];
  app.put(`${PATH}/:id`, withCheck(replaceRoute, checkReplace), async (request, reply) => {
    const { id: _id, version: _version, ...body } = request.body;
    const view = await replaceVersion(catalog, callerOf(request), {
      ...request.params,
      ...request.query,
      content: toContent(body, request),
      ifMatch: parseIfMatch(request.headers['if-match']),
    });
    return sendResponse(reply, versionResponse(view));
  });
  app.patch(`${PATH}/:id`, patchRoute, async (request, reply) => {
    const view = await patchVersion(catalog, callerOf(request), {
      ...request.params,
      ...request.query,
      patch: request.body,
      ifMatch: parseIfMatch(request.headers['if-match']),
    });
    return sendResponse(reply, versionResponse(view));
  });
  app.delete(`${PATH}/:id`, deleteRoute, async (request, reply) => {
    const deleted = await deleteVersion(catalog, callerOf(request), {
      ...request.params,
      ...request.query,
      ifMatch: parseIfMatch(request.headers['if-match']),
    });
    return reply.code(204).header('content-location', addressOf(deleted)).send();
  });
}

type Written = Omit<ReturnType<typeof draftIn.parse>, 'id' | 'version'>;

function toContent({ spec: _spec, ...fields }: Written, { spec }: FastifyRequest): Content {
  return { ...fields, specText: spec?.text };
}

/** A replace cannot move a version: what the body says of its name must be what the address says. */
function addressProblems({ body, params, query }: FastifyRequest): FieldProblem[] {
  if (!isRecord(body)) return [];
  const { id } = params as { id: string };
  const { version } = query as { version?: string };
  const moves = {
    id: typeof body['id'] === 'string' && foldId(body['id']) !== foldId(id),
    version: typeof body['version'] === 'string' && body['version'] !== version,
  };
  return (['id', 'version'] as const).filter((field) => moves[field]).map(otherAddress);
}

function otherAddress(field: string): FieldProblem {
  return {
    pointer: `#/${field}`,
    code: 'mismatch',
    detail: `The \`${field}\` of the body is not the one of the address.`,
  };
}

const draftProblems = [
  'artifact-not-found',
  'not-a-draft',
  'precondition-required',
  'precondition-failed',
] as const;
const common = { tag: 'Catalog', scope: 'catalog:write' } as const;
/** The headers that a draft can have. */
const draftHeaderNames = ['ETag', 'Cache-Control', 'Vary', 'Content-Location'] as const;

/** Parts of a request that name a version which is there. */
const named = { params: artifactParams, querystring: versionQuery, headers: ifMatchHeader };

const createRoute = describeRoute({
  ...common,
  operationId: 'createArtifactVersion',
  summary: 'Create a draft',
  description:
    'Scope `catalog:write`. Makes a new version, and the artifact with its first one. Without `version`: `1.0.0`, then the next minor of the highest version. All versions of an artifact have the `type` of its first one. Findings in an OpenAPI or AsyncAPI `spec` are warnings on a draft.',
  bodyLimit: SPEC_BODY_BYTES_MAX,
  request: { headers: idempotencyHeader, body: draftIn },
  ok: { 201: { description: 'The draft.', schema: artifactOut } },
  headers: [...draftHeaderNames, 'Location', 'Idempotent-Replayed'],
  problems: ['version-exists', 'idempotency-in-progress', 'idempotency-mismatch'],
});

const replaceRoute = describeRoute({
  ...common,
  operationId: 'replaceArtifactVersion',
  summary: 'Replace a draft',
  description:
    'Scope `catalog:write`. Without `version`: the only draft. Its `type` can change while it is the only version of the artifact.',
  bodyLimit: SPEC_BODY_BYTES_MAX,
  request: { ...named, body: contentOnlyIn },
  ok: { 200: { description: 'The draft.', schema: artifactOut } },
  headers: draftHeaderNames,
  problems: draftProblems,
});

const patchRoute = describeRoute({
  ...common,
  operationId: 'editArtifactVersion',
  summary: 'Edit title, description, owner or group path',
  description:
    'Scope `catalog:write`. In every state but RETIRED. Without `version`: the version that a read returns.',
  request: { ...named, body: patchIn },
  ok: { 200: { description: 'The version.', schema: artifactOut } },
  headers: versionHeaderNames,
  problems: [
    'artifact-not-found',
    'no-published-version',
    'invalid-lifecycle-transition',
    'precondition-required',
    'precondition-failed',
  ],
});

const deleteRoute = describeRoute({
  ...common,
  operationId: 'deleteArtifactVersion',
  summary: 'Delete a draft',
  description: 'Scope `catalog:write`. Without `version`: the only draft.',
  request: named,
  ok: { 204: { description: 'Deleted.' } },
  headers: ['Content-Location'],
  problems: draftProblems,
});

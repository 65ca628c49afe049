import type { RouteOptions } from 'fastify';
import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { DESCRIPTION, VERSION } from '#shared/program.ts';
import { ENTITY_TAGS } from '../requests/precondition.ts';
import { withUsedParts } from './components.ts';
import type { RouteDescription } from './describe-route.ts';
import { type OpenApiDocument, operationKeysOf } from './document.ts';
import { withExample } from './examples.ts';
import { responseHeaders, securitySchemes, tags } from './parts.ts';
import { shareParts } from './references.ts';
import { problemExamples, responsesOf, schemesOf } from './responses.ts';
import { createSchemas, type ToJsonSchema } from './schemas.ts';

/** The document of these routes, in their order; the same text for the same routes. */
export function buildDocument(routes: readonly RouteOptions[]): OpenApiDocument {
  const { toJsonSchema, components } = createSchemas();
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const described = route.config?.described;
    if (!described || route.method === 'HEAD') continue;
    for (const key of operationKeysOf(route)) {
      const [method = '', path = ''] = key.split(' ');
      paths[path] = { ...paths[path], [method]: operationOf({ route, described }, toJsonSchema) };
    }
  }
  const document: OpenApiDocument = {
    openapi: '3.1.1',
    info: {
      title: 'Trackport',
      version: VERSION,
      summary: DESCRIPTION,
      description:
        'Every error is a problem document (RFC 9457); decide by its `code`. The body of a GET is ignored, whatever it is.',
      contact: { name: 'The operator of this instance' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    components: {
      securitySchemes,
      schemas: Object.fromEntries(
        components().map(([id, schema]) => [id, withExample(id, schema)]),
      ),
      headers: responseHeaders,
      examples: problemExamples(),
    },
    paths,
    servers: [{ url: '/', description: 'This instance.' }],
    tags: [...tags],
  };
  return shareParts(withUsedParts(document));
}

/** A route that the document describes. */
type Described = { route: RouteOptions; described: RouteDescription };

function operationOf({ route, described }: Described, toJsonSchema: ToJsonSchema) {
  const { tag, operationId, summary, description, scope, signedBody } = described;
  const body = (route.schema?.body ?? signedBody) as z.ZodType | undefined;
  const parameters = parametersOf({ route, described }, toJsonSchema);
  return {
    operationId,
    summary,
    tags: [tag],
    description,
    ...(body && {
      requestBody: {
        required: !(body instanceof z.ZodOptional),
        content: { 'application/json': { schema: toJsonSchema(body, 'input') } },
      },
    }),
    ...(parameters.length > 0 && { parameters }),
    security: schemesOf(described).map((scheme) => ({
      [scheme]: scheme === 'Bearer' && scope !== undefined ? [scope] : [],
    })),
    responses: responsesOf(String(route.method), described, toJsonSchema),
  };
}

const ifNoneMatch: OpenAPIV3_1.ParameterObject = {
  in: 'header',
  name: 'If-None-Match',
  required: false,
  description: 'The `ETag` of an answer that the caller has: 304 when it is still the same.',
  schema: { type: 'string', pattern: ENTITY_TAGS.source },
};

/** The parts of a request that parameters stand for, as openapi.json calls them. */
const places = { querystring: 'query', params: 'path', headers: 'header' } as const;

function parametersOf({ route, described }: Described, toJsonSchema: ToJsonSchema) {
  const parameters = Object.entries(places).flatMap(([part, place]) => {
    const schema = route.schema?.[part as keyof typeof places] as z.ZodType | undefined;
    if (!schema) return [];
    const { properties = {}, required = [] } = toJsonSchema(schema, 'input');
    return Object.entries(properties).map(([name, { description, ...property }]) => ({
      schema: property,
      in: place,
      name,
      required: required.includes(name),
      description,
    }));
  });
  return [
    ...parameters.filter(({ name }) => !isCredential(name, described)),
    ...(described.notModified === true ? [ifNoneMatch] : []),
  ];
}

/** A header that a security scheme stands for is no parameter. */
function isCredential(header: string, described: RouteDescription): boolean {
  return schemesOf(described).some((scheme) => {
    const known = securitySchemes[scheme];
    return known?.type === 'apiKey' && known.name === header;
  });
}

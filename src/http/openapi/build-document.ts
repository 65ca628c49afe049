import swagger from '@fastify/swagger';
import fastify, { type RouteOptions } from 'fastify';
import {
  createJsonSchemaTransform,
  createJsonSchemaTransformObject,
} from 'fastify-type-provider-zod';
import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { DESCRIPTION, VERSION } from '#shared/program.ts';
import { PROBLEM_MEDIA_TYPE } from '../problems/problem.ts';
import { ENTITY_TAGS } from '../requests/precondition.ts';
import { schemaCompilers } from '../schema-compilers.ts';
import { tidyComponents } from './components.ts';
import type { RouteDescription } from './describe-route.ts';
import { type OpenApiDocument, operationKeysOf, operationsOf } from './document.ts';
import { withExample } from './examples.ts';
import { responseHeaders, securitySchemes, tags } from './parts.ts';
import { shareParts } from './references.ts';
import { examplesOf, headersOf, problemExamples, responsesOf, schemesOf } from './responses.ts';
import { forClients, withoutDefaults } from './schemas.ts';

const zodToJsonConfig = { override: forClients };

/** A route that the document describes. */
type Described = { route: RouteOptions; method: string; described: RouteDescription };

/** The document of these routes, in their order; the same text for the same routes. */
export async function buildDocument(routes: readonly RouteOptions[]): Promise<OpenApiDocument> {
  const found = routes.flatMap((route): Described[] => {
    const described = route.config?.described;
    return described && typeof route.method === 'string' && route.method !== 'HEAD'
      ? [{ route, method: route.method, described }]
      : [];
  });
  const document = await describe(found);
  const parts = { headers: { ...responseHeaders }, examples: problemExamples() };
  const whole = { ...document, components: { ...document.components, ...parts } };
  const byKey = new Map(
    found.flatMap((one) => operationKeysOf(one.route).map((key) => [key, one])),
  );
  for (const { key, operation } of operationsOf(whole)) {
    const one = byKey.get(key);
    if (one) complete(operation, one);
  }
  return shareParts(
    tidyComponents(whole, (name, schema) => withExample(name, withoutDefaults(schema))),
  );
}

/** The plugin describes what is registered after it: a server of its own, which never listens. */
async function describe(routes: readonly Described[]): Promise<OpenApiDocument> {
  const app = fastify({ exposeHeadRoutes: false, schemaController: schemaCompilers });
  await app.register(swagger, {
    openapi: {
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
      servers: [{ url: '/', description: 'This instance.' }],
      tags: [...tags],
      components: { securitySchemes },
    },
    transform: createJsonSchemaTransform({ zodToJsonConfig }),
    transformObject: createJsonSchemaTransformObject({ zodToJsonConfig }),
  });
  for (const { route, method, described } of routes)
    app.route({ method, url: route.url, schema: schemaOf(route, method, described), handler });
  try {
    await app.ready();
    return app.swagger() as OpenApiDocument;
  } finally {
    await app.close();
  }
}

function handler(): never {
  throw new Error('this server only describes');
}

function schemaOf({ schema }: RouteOptions, method: string, described: RouteDescription) {
  const { tag, operationId, summary, description, scope, signedBody } = described;
  return {
    tags: [tag],
    operationId,
    summary,
    description,
    security: schemesOf(described).map((scheme) => ({
      [scheme]: scheme === 'Bearer' && scope !== undefined ? [scope] : [],
    })),
    ...(signedBody && { body: signedBody }),
    ...schema,
    response: responsesOf(method, described),
  };
}

const ifNoneMatch: OpenAPIV3_1.ParameterObject = {
  in: 'header',
  name: 'If-None-Match',
  required: false,
  description: 'The `ETag` of an answer that the caller has: 304 when it is still the same.',
  schema: { type: 'string', pattern: ENTITY_TAGS.source },
};

/** Adds what the plugin leaves out: headers, examples, the condition of a read, a body that may be missing. */
function complete(
  operation: OpenAPIV3_1.OperationObject,
  { route, method, described }: Described,
): void {
  for (const [status, given] of Object.entries(operation.responses ?? {})) {
    const response = given as OpenAPIV3_1.ResponseObject;
    const problem = response.content?.[PROBLEM_MEDIA_TYPE];
    if (problem) problem.examples = examplesOf(method, described, Number(status));
    response.headers = Object.fromEntries(
      headersOf(Number(status), described).map((name) => [
        name,
        { $ref: `#/components/headers/${name}` },
      ]),
    );
  }
  if (described.notModified === true)
    operation.parameters = [...(operation.parameters ?? []), ifNoneMatch];
  if (route.schema?.body instanceof z.ZodOptional)
    Object.assign(operation.requestBody ?? {}, { required: false });
}

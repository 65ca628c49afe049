import swagger from '@fastify/swagger';
import fastify, { type RouteOptions } from 'fastify';
import {
  createJsonSchemaTransform,
  createJsonSchemaTransformObject,
} from 'fastify-type-provider-zod';
import { z } from 'zod';
import { DESCRIPTION, VERSION } from '#shared/program.ts';
import { schemaCompilers } from '../schema-compilers.ts';
import { tidyComponents } from './components.ts';
import { type OpenApiDocument, operationsOf } from './document.ts';
import { addExamples } from './examples.ts';
import { addIfNoneMatch, addResponseHeaders, type HeadersByOperation } from './headers.ts';
import { operationKeysOf } from './operation-key.ts';
import { securitySchemes, tags } from './parts.ts';
import { addProblemExamples, type ProblemsByOperation } from './problems.ts';
import { shareParts } from './references.ts';
import { forClients, withoutDefaults } from './schemas.ts';

const zodToJsonConfig = { override: forClients };

/** The document of these routes, in their order; the same text for the same routes. */
export async function buildDocument(routes: readonly RouteOptions[]): Promise<OpenApiDocument> {
  const document = await describe(routes);
  const { headers, problems, bodiless } = factsOf(routes);
  const withHeaders = addIfNoneMatch(addResponseHeaders(document, headers));
  for (const { key, operation } of operationsOf(document))
    if (bodiless.has(key)) Object.assign(operation.requestBody ?? {}, { required: false });
  const tidy = tidyComponents(addProblemExamples(withHeaders, problems));
  return shareParts(addExamples(withoutDefaults(tidy)));
}

/** The plugin describes what is registered after it: a server of its own, which never listens. */
async function describe(routes: readonly RouteOptions[]): Promise<OpenApiDocument> {
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
  for (const { method, url, schema } of routes)
    app.route({ method, url, schema, handler: notServing });
  try {
    await app.ready();
    return app.swagger() as OpenApiDocument;
  } finally {
    await app.close();
  }
}

function notServing(): never {
  throw new Error('this server only describes');
}

/** What routes say beside their schemas. */
type RouteFacts = {
  headers: HeadersByOperation;
  problems: ProblemsByOperation;
  /** Operations that can do without their body; the plugin requires every body. */
  bodiless: Set<string>;
};

function factsOf(routes: readonly RouteOptions[]): RouteFacts {
  const facts: RouteFacts = { headers: new Map(), problems: new Map(), bodiless: new Set() };
  for (const route of routes)
    for (const key of operationKeysOf(route)) {
      const { responseHeaders, problems } = route.config ?? {};
      if (responseHeaders) facts.headers.set(key, responseHeaders);
      if (route.schema?.body instanceof z.ZodOptional) facts.bodiless.add(key);
      if (problems) facts.problems.set(key, problems);
    }
  return facts;
}

import swagger from '@fastify/swagger';
import {
  createJsonSchemaTransform,
  createJsonSchemaTransformObject,
} from 'fastify-type-provider-zod';
import packageFile from '#package.json' with { type: 'json' };
import type { HttpApp } from '../http-app.ts';
import type { OpenApiDocument } from './document.ts';
import { addExamples } from './examples.ts';
import { addIfNoneMatch, addResponseHeaders } from './headers.ts';
import type { HeadersByOperation } from './headers.ts';
import { addProblemExamples } from './problems.ts';
import type { ProblemsByOperation } from './problems.ts';
import { tidyComponents } from './components.ts';
import { shareParts } from './references.ts';
import { forClients, withoutDefaults } from './schemas.ts';
import { securitySchemes, tags } from './parts.ts';

const zodToJsonConfig = { override: forClients };

/** Collects the schemas of all routes that are registered later. */
export function collectOpenApi(app: HttpApp): void {
  const facts: RouteFacts = { headers: new Map(), problems: new Map() };
  app.addHook('onRoute', ({ url, method, config }) => {
    for (const name of [method].flat()) {
      const key = operationKey(name, templateOf(url));
      if (config?.responseHeaders) facts.headers.set(key, config.responseHeaders);
      if (config?.problems) facts.problems.set(key, config.problems);
    }
  });
  void app.register(swagger, {
    openapi: {
      openapi: '3.1.1',
      info: {
        title: 'Trackport',
        version: packageFile.version,
        summary: packageFile.description,
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
  let document: OpenApiDocument | undefined;
  app.decorate('openApi', () => {
    document ??= finish(app.swagger() as OpenApiDocument, facts);
    return document;
  });
}

/** The document of all registered routes; the same text for the same routes. */
export async function buildOpenApi(app: HttpApp): Promise<OpenApiDocument> {
  await app.ready();
  return app.openApi();
}

/** What routes say beside their schemas. */
type RouteFacts = { headers: HeadersByOperation; problems: ProblemsByOperation };

function finish(document: OpenApiDocument, { headers, problems }: RouteFacts): OpenApiDocument {
  const withHeaders = addIfNoneMatch(addResponseHeaders(document, headers));
  const tidy = tidyComponents(addProblemExamples(withHeaders, problems));
  return shareParts(addExamples(withoutDefaults(tidy)));
}

function templateOf(url: string): string {
  return url.replaceAll(/:([^/]+)/g, '{$1}');
}

/** One operation, as the maps of this folder name it. */
function operationKey(method: string, path: string): string {
  return `${method.toLowerCase()} ${path}`;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** The document of all routes; only when the instance is ready. */
    openApi: () => OpenApiDocument;
  }
}

import type { FastifyServerOptions } from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';

/**
 * How Fastify compiles schemas: a hook of ours validates, zod serializes. Named when the server is
 * made, since Fastify loads ajv otherwise, and its types know the factories of ajv only.
 */
export const schemaCompilers = {
  compilersFactory: {
    buildValidator: () => () => () => true,
    buildSerializer: () => serializerCompiler,
  },
} as unknown as NonNullable<FastifyServerOptions['schemaController']>;

import swagger from '@fastify/swagger';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { HttpApp } from './http-app.ts';

/** Collects the schemas of all routes that are registered later. */
export function collectOpenApi(app: HttpApp): void {
  void app.register(swagger, {
    openapi: { openapi: '3.1.1', info: { title: 'Trackport', version: '1' }, components: { securitySchemes: {} } },
    transform: jsonSchemaTransform,
    transformObject: jsonSchemaTransformObject,
  });
}

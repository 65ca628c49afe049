import type { ReadSpecBody, SpecText } from '#catalog/spec/spec-body.ts';
import type { HttpApp } from '../../http-app.ts';
import { takeBodies, toBody } from '../../requests/json-body.ts';
import { hangUpOf } from '../../requests/hang-up.ts';
import type { ReadBody } from '../../requests/read-body.ts';

/** Bytes of a body that may hold a spec of 5 MiB. */
export const SPEC_BODY_BYTES_MAX = 6 * 1024 * 1024;

type Readers = { readBody: ReadBody; readSpecBody: ReadSpecBody };

/**
 * In this scope a body may hold a spec. In `request.body` stands an empty object in its place, and
 * its text is in `request.spec`: as a value it would cost everybody who looks at the body.
 */
export function acceptSpecJson(app: HttpApp, { readBody, readSpecBody }: Readers): void {
  app.decorateRequest('spec', undefined);
  const types = ['application/json', 'application/merge-patch+json'];
  takeBodies(app, { types, read: readBody }, (request, bytes) =>
    toBody(request, bytes, async () => {
      const { value, spec } = await readSpecBody(bytes, hangUpOf(request));
      request.spec = spec;
      return value;
    }),
  );
}

declare module 'fastify' {
  interface FastifyRequest {
    spec: SpecText | undefined;
  }
}

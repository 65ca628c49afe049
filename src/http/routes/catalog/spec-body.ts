import type { BearerContext, HttpApp } from '../../http-app.ts';
import { takeBodies, toBody } from '../../requests/json-body.ts';
import { hangUpOf } from '../../requests/hang-up.ts';

/** Bytes of a body that may hold a spec of 5 MiB. */
export const SPEC_BODY_BYTES_MAX = 6 * 1024 * 1024;

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

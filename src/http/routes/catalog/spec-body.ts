import { specJsonRules } from '#catalog/version/artifact.ts';
import type { HttpApp } from '../../http-app.ts';
import { readJson, takeBodies } from '../../json-body.ts';
import type { ReadBody } from '../../read-body.ts';

/** Bytes of a body that may hold a spec of 5 MiB. */
export const SPEC_BODY_BYTES_MAX = 6 * 1024 * 1024;

/** In this scope a body may hold a spec. */
export function acceptSpecJson(app: HttpApp, read: ReadBody): void {
  const types = ['application/json', 'application/merge-patch+json'];
  takeBodies(app, { types, read }, (request, bytes, done) =>
    readJson(request, { bytes, rules: specJsonRules }, done),
  );
}

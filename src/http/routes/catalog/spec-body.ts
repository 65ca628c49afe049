import { specJsonRules } from '#catalog/version/artifact.ts';
import type { HttpApp } from '../../http-app.ts';
import { readJson } from '../../json-body.ts';

/** Bytes of a body that may hold a spec of 5 MiB. */
export const SPEC_BODY_BYTES_MAX = 6 * 1024 * 1024;

/** In this scope a body may hold a spec. */
export function acceptSpecJson(app: HttpApp): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    ['application/json', 'application/merge-patch+json'],
    { parseAs: 'buffer' },
    (request, body, done) => {
      readJson(request, { bytes: body as Buffer, rules: specJsonRules }, done);
    },
  );
}

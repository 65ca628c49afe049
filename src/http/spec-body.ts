import { SPEC_DEPTH_MAX } from '#catalog/artifact.ts';
import type { HttpApp } from './http-app.ts';
import { readJson } from './json-body.ts';

/** Bytes of a body that may hold a spec of 5 MiB. */
export const SPEC_BODY_BYTES_MAX = 6 * 1024 * 1024;
/** More than any known API description of 5 MiB has; parsing costs by values, not by bytes. */
const VALUES_MAX = 500_000;

/**
 * In this scope a body may hold a spec: one level deeper than a spec may be, and with every number
 * digit by digit as it came.
 */
export function acceptSpecJson(app: HttpApp): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    ['application/json', 'application/merge-patch+json'],
    { parseAs: 'buffer' },
    (request, body, done) => {
      const rules = { depthMax: SPEC_DEPTH_MAX + 1, valuesMax: VALUES_MAX, exactNumbers: true };
      readJson(request, { bytes: body as Buffer, rules }, done);
    },
  );
}

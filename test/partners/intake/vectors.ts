import { readFileSync } from 'node:fs';
import type { FixedScheme } from '#partners/intake/signing.ts';

/** One case of `test/fixtures/signatures.json`: `valid` is the verdict on the signature alone. */
export type Vector = {
  name: string;
  scheme: FixedScheme;
  secret: string;
  /** Overlapping secrets, newest first; in place of `secret`. */
  secrets?: string[];
  method: string;
  uri: string;
  body: string;
  /** In place of `body`. */
  bodyBase64?: string;
  timestamp: string | null;
  now: number;
  signature: string | null;
  valid: boolean;
  /** The HMAC matches by accident of its construction, and the route must refuse the call. */
  uriMismatch?: boolean;
  signedUri?: string;
};

export const vectors = JSON.parse(
  readFileSync(new URL('../../fixtures/signatures.json', import.meta.url), 'utf8'),
) as Vector[];

export function bodyOf({ body, bodyBase64 }: Vector): Buffer {
  return bodyBase64 === undefined ? Buffer.from(body) : Buffer.from(bodyBase64, 'base64');
}

export function secretsOfVector({ secret, secrets }: Vector): string[] {
  return secrets ?? [secret];
}

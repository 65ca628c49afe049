import { hmacSha256, sameDigest } from '#shared/crypto/hash.ts';

/** The name of the hidden field that every form carries. */
export const FORM_TOKEN_FIELD = 'formToken';

/**
 * Tokens by which a form is known to come from a page of the same session. Each follows from the
 * session alone, so that any instance knows it and two tabs have the same one.
 */
export type FormTokens = {
  of(sessionDigest: Buffer): string;
  /** Tells nothing by its time. */
  fits(sessionDigest: Buffer, given: unknown): boolean;
};

/** `key`: 32 bytes that are used for this alone. */
export function createFormTokens(key: Buffer): FormTokens {
  const digestOf = (session: Buffer): Buffer => hmacSha256(key, session);
  return {
    of: (session) => digestOf(session).toString('base64url'),
    fits: (session, given) =>
      typeof given === 'string' && sameDigest(Buffer.from(given, 'base64url'), digestOf(session)),
  };
}

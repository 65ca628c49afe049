import type { Session } from '#access/sessions/session.ts';
import { hmacSha256, sameDigest } from '#shared/crypto/hash.ts';

/** The name of the hidden field that every form carries. */
export const FORM_TOKEN_FIELD = 'formToken';

/** The session and the person that a token stands for. */
type Owner = Pick<Session, 'digest' | 'issuerSubject' | 'principal'>;

/**
 * Tokens by which a form is known to come from a page of the same session. Each follows from session
 * and person alone, so that any instance knows it and two tabs have the same one.
 */
export type FormTokens = {
  of(owner: Owner): string;
  /** Tells nothing by its time. */
  fits(owner: Owner, given: unknown): boolean;
  /** Whether it was given to the same person, whatever the session. */
  isOfPerson(owner: Owner, given: unknown): boolean;
};

/** `key`: 32 bytes that are used for this alone. */
export function createFormTokens(key: Buffer): FormTokens {
  const sessionPart = ({ digest }: Owner): Buffer => hmacSha256(key, digest);
  const personPart = ({ issuerSubject, principal: { subject, workspaceId } }: Owner): Buffer =>
    hmacSha256(key, Buffer.from(JSON.stringify([issuerSubject, subject, workspaceId])));
  const hasPart = (at: number, wanted: Buffer, given: unknown): boolean =>
    typeof given === 'string' &&
    sameDigest(Buffer.from(given.split('.')[at] ?? '', 'base64url'), wanted);
  return {
    of: (owner) =>
      [sessionPart(owner), personPart(owner)].map((part) => part.toString('base64url')).join('.'),
    fits: (owner, given) => hasPart(0, sessionPart(owner), given),
    isOfPerson: (owner, given) => hasPart(1, personPart(owner), given),
  };
}

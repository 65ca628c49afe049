import type { KeyObject } from 'node:crypto';

/** What is signed. Which of it counts, the scheme says. */
export type SignedContent = {
  /** As on the wire. */
  method: string;
  /** The public address that was requested, escapes as they came. */
  uri: string;
  /** The raw bytes of the body. */
  body: Buffer;
  /** As it stands in its header. */
  timestamp: string;
  /** The message's, where it has one. */
  id?: string;
};

/** A signed time: how its digits count, and how far off it may be, before and after. */
export type SignedTime = {
  unit: 's' | 'ms';
  toleranceMs: number;
  /** Whether a time in words, such as 2026-01-31T00:00:00Z, is read as well. */
  takesText?: boolean;
};

/** How a partner signs: all that differs between the schemes. */
export type Signing = {
  /** What makes the signature; to refuse a call costs the same within one kind. */
  kind: 'sha256' | 'sha512' | 'standard-webhooks';
  /** Whether the public address is signed. */
  coversUrl: boolean;
  /** Whether a message's id is signed, and stands in a header of its own. */
  coversId: boolean;
  /** Absent: no time is signed. */
  time?: SignedTime;
  /**
   * The signatures that the header's value holds, of each the one spelling that is compared; none: it is
   * malformed. `timestamps` where the time stands in the same header.
   */
  read: (value: string) => { signatures: readonly string[]; timestamps?: readonly string[] };
  /** The signature of this content. */
  sign: (key: KeyObject, content: SignedContent) => string;
  /** The value of the header with this signature. */
  write: (signature: string, timestamp: string) => string;
  /** The key in a secret, where that is not its text. */
  keyBytes?: (secret: string) => Buffer | undefined;
};

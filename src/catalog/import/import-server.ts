import type { Secret } from '#shared/crypto/secret.ts';

/** A Trackport server that an import goes to, and who comes to it. */
export type ImportServer = {
  /** Its root, without a slash at its end. */
  server: string;
  credential: { kind: 'token'; token: Secret } | ({ kind: 'client' } & MachineClient);
};

/** A client that gets its tokens by the client credentials grant (RFC 6749 section 4.4). */
export type MachineClient = {
  /** Exactly as the issuer names itself; whoever hands over an `http:` address takes the risk. */
  issuer: string;
  clientId: string;
  clientSecret: Secret;
  /** With blanks between them. */
  scope: string;
  /** For issuers that want to be told what the token is for. */
  audience?: string;
};

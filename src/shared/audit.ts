/** Who did something: a command line user, a bearer token's subject, or Trackport itself. */
export type Actor = {
  kind: 'cli' | 'token' | 'system';
  /** The token's `sub`; the operating system user for the command line. */
  subject: string;
  /** The token's client id. */
  clientId?: string;
};

/** One line of the audit log. Never a secret, never personal data of a lead. */
export type AuditEntry = {
  /** Milliseconds since the Unix epoch. */
  at: number;
  actor: Actor;
  /** What happened, as `noun.verb`: `consumer.create`, `key.rotate`, `claim.release`. */
  action: string;
  /** What it happened to: `consumer/<id>`, `claim/<number>`. */
  subject: string;
  /** Names and new values of what changed. */
  changes?: Record<string, unknown>;
  requestId?: string;
};

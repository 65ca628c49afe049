import { z } from 'zod';

/** Who did something: a command line user, a bearer token's subject, or Trackport itself. */
export const actorOut = z
  .object({
    kind: z.enum(['cli', 'token', 'system']),
    subject: z.string().describe('Of a token its `sub`; the user of the command line.'),
    clientId: z.string().optional().describe('The token’s client.'),
  })
  .meta({ id: 'Actor', description: 'Who did something.' });

export type Actor = z.infer<typeof actorOut>;

/** Who makes a change, and in which request, for the audit log. */
export type Origin = { actor: Actor; requestId?: string };

/** What can happen to an artifact of the catalog. */
const artifactActions = [
  'create',
  'replace',
  'edit',
  'delete',
  'publish',
  'deprecate',
  'reinstate',
  'retire',
  'set-default',
  'unset-default',
] as const;

/** Everything that the audit log tells of, as `noun.verb`. */
export const auditActions = [
  'consumer.create',
  'consumer.update',
  'consumer.grant',
  'consumer.revoke',
  'key.create',
  'key.rotate',
  'key.revoke',
  'claim.release',
  'claim.withdraw',
  'receipt.replay',
  'receipt.acknowledge',
  ...artifactActions.map((action) => `artifact.${action}` as const),
] as const;

export type ArtifactAction = (typeof artifactActions)[number];
export type AuditAction = (typeof auditActions)[number];

/** One line of the audit log. Never a secret, never personal data of a lead. */
export type AuditEntry = {
  /** Milliseconds since the Unix epoch. */
  at: number;
  actor: Actor;
  action: AuditAction;
  /**
   * What it happened to: `consumer/<id>`, `claim/<number>`, `receipt/<id>`, `receipts` (many at
   * once), `artifact/<workspace>/<id in lower case>`.
   */
  subject: string;
  /** Names and new values of what changed. */
  changes?: Record<string, unknown>;
  requestId?: string;
};

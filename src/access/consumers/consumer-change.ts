import type { Actor, AuditAction, AuditEntry } from '#shared/audit.ts';
import type { Clock } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import type { NewId } from '#shared/ids.ts';
import type { RandomText } from '../keys/api-key.ts';
import type { Consumer } from './consumer.ts';
import type { ConsumerStore } from '../consumer-store.ts';

/** What managing consumers needs. */
export type ManageDeps = {
  store: ConsumerStore;
  clock: Pick<Clock, 'now'>;
  newId: NewId;
  /** Default: the operating system's generator. */
  random?: RandomText;
};

/** Who makes a change, for the audit log. */
export type Origin = { actor: Actor; requestId?: string };

export type AuditFacts = { at: number; action: AuditAction; changes: Record<string, unknown> };

/** One line of the audit log about a consumer. */
export function auditOf(consumer: Consumer, origin: Origin, facts: AuditFacts): AuditEntry {
  return { ...facts, ...origin, subject: `consumer/${consumer.id}` };
}

/** @throws {invalid-lifecycle-transition} the consumer is revoked */
export function refuseRevoked(consumer: Consumer): void {
  if (consumer.state !== 'revoked') return;
  throw new TrackportError('invalid-lifecycle-transition', {
    detail: 'This consumer is revoked, which is final. Create another one.',
    extensions: { current: consumer.state, allowed: [] },
  });
}

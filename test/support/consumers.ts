import { type AccessVersion, createAccessVersion } from '#access/keys/access-version.ts';
import type { AccessStore } from '#access/consumers/stored-consumers.ts';
import { type Clock, systemClock } from '#shared/clock.ts';
import type { Database } from '#shared/database.ts';
import { newUuid } from '#shared/ids.ts';

export type StoredConsumers = AccessStore & { accessVersion: AccessVersion };

/** The consumers of a database, as one instance of the service has them. */
export function consumersIn(db: Database, clock: Clock = systemClock): StoredConsumers {
  return { db, clock, newId: newUuid, accessVersion: createAccessVersion(db, clock) };
}

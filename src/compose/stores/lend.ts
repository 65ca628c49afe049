/** Stopped and empty stores, for what has one for itself. */
import * as postgres from '#adapters/postgres/transfer/exclusive.ts';
import type { Session } from '#adapters/store/session.ts';
import { withEmpty as withEmptyFile } from '#adapters/sqlite/transfer/empty-store.ts';
import { withStopped as withStoppedFile } from '#adapters/sqlite/transfer/exclusive.ts';
import type { StoreAddress } from '#config/schema/values.ts';

import { storeError } from '../server/start-error.ts';

type Work<T> = (session: Session) => Promise<T>;

/**
 * Lets `work` have a stopped store for itself: the whole of what it writes is there afterwards, or nothing.
 * @throws {StartError} also when it is in use, is not there, or has another schema than today's
 */
export function withStopped<T>(address: StoreAddress, work: Work<T>): Promise<T> {
  return named(address, () =>
    address.engine === 'sqlite'
      ? withStoppedFile(address.path, work)
      : postgres.withStopped(address.url.reveal(), work),
  );
}

/** The same of an empty store, which is made where it is missing. @throws {StartError} also when it is not empty */
export function withEmpty<T>(address: StoreAddress, work: Work<T>): Promise<T> {
  return named(address, () =>
    address.engine === 'sqlite'
      ? withEmptyFile(address.path, work)
      : postgres.withEmpty(address.url.reveal(), work),
  );
}

/** Failures say of which store they are. */
export async function named<T>(address: StoreAddress, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storeError(error, address);
  }
}

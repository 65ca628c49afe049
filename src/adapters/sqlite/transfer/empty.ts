import { TrackportError } from '#shared/errors.ts';
import type { Database } from 'better-sqlite3';
import { countRows, listTables } from './tables.ts';

/** A start fills it again: whoever started a new store once has lost nothing with it. */
const REFILLED = new Set([
  'directory_approval',
  'directory_key',
  'directory_lead',
  'directory_state',
  'secret_key',
  'tracker_repository',
]);

/**
 * Refuses a store that holds more than `fresh`, one that was made just now.
 * @throws {store-unavailable}
 */
export function refuseUnlessEmpty(handle: Database, fresh: Database): void {
  const atStart = countRows(fresh, listTables(fresh));
  const rows = countRows(handle, listTables(handle));
  const full = [...rows].filter(
    ([name, count]) =>
      !REFILLED.has(name) && name !== 'migration' && count > (atStart.get(name) ?? 0),
  );
  if (full.length === 0) return;
  const names = full.map(([name]) => name).join(', ');
  throw new TrackportError('store-unavailable', {
    detail: `The store is not empty (${names}). Name another one, or move its files away.`,
  });
}

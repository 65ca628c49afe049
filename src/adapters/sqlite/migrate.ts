import { searchTextOf } from '#catalog/reading/search-terms.ts';
import {
  applyMigrations,
  type MigrateDeps,
  type Migration,
  shippedMigrations,
} from '../store/migrations.ts';
import type { LocalDatabase } from './connection/database.ts';

/** @see applyMigrations */
export function migrate(
  deps: MigrateDeps & { database: LocalDatabase },
  migrations = shippedMigrations('sqlite'),
): Promise<Migration[]> {
  deps.database.writing.handle.function('search_text', { varargs: true }, searchTextFor);
  return applyMigrations(deps, migrations);
}

/** What 0030 cuts the terms of versions with that are there already. */
function searchTextFor(
  ...[id, title, owner, groupPath, description]: [string, string, string, ...(string | null)[]]
): string {
  return searchTextOf({
    id,
    title,
    owner,
    groupPath: groupPath ?? '',
    description: description ?? '',
  });
}

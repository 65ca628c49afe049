import type { RunServer } from '../../support/postgres/template.ts';
import { openSqliteStores } from './sqlite-stores.ts';
import type { Stores } from './store.ts';

/** The engine of production that histories are played on. To be called before the process is patched. */
export async function openStores({
  folder,
  postgres,
}: {
  folder: string;
  postgres?: RunServer | undefined;
}): Promise<Stores> {
  if (!postgres) return openSqliteStores(folder);
  const { openPostgresStores } = await import('./postgres/stores.ts');
  return openPostgresStores(postgres);
}

import { expect, test } from 'vitest';
import { temporaryPostgres } from '../../support/postgres/database.ts';

test('all who listen share one connection, and each hears its own channel', async () => {
  const database = await temporaryPostgres();
  const listening = async () => {
    const row = await database.get<{ count: number }>(`
      SELECT count(*) AS count FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE 'LISTEN%'`);
    return row?.count;
  };
  const calls = { changes: 0, leads: 0 };
  const changes = database.listen('changes', () => (calls.changes += 1));
  await expect.poll(() => calls).toEqual({ changes: 1, leads: 0 });
  const leads = database.listen('leads', () => (calls.leads += 1));
  await expect.poll(() => calls).toEqual({ changes: 1, leads: 1 });
  expect(await listening()).toBe(1);

  await database.exec('NOTIFY leads');
  await expect.poll(() => calls).toEqual({ changes: 1, leads: 2 });
  await database.exec('NOTIFY changes');
  await expect.poll(() => calls).toEqual({ changes: 2, leads: 2 });

  await changes.close();
  await database.exec('NOTIFY changes; NOTIFY leads');
  await expect.poll(() => calls).toEqual({ changes: 2, leads: 3 });
  await leads.close();
  await expect.poll(listening).toBe(0);

  const again = database.listen('changes', () => (calls.changes += 1));
  await expect.poll(() => calls.changes).toBe(3);
  await again.close();
});

import BetterSqlite3 from 'better-sqlite3';

/** The worker of this SQLite file, which was killed, was so long ago: nobody waits for it any more. */
export function endLease(file: string): void {
  const handle = new BetterSqlite3(file, { fileMustExist: true });
  handle.exec('UPDATE worker_lease SET holder = NULL');
  handle.close();
}

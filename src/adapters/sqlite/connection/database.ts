import { SECOND } from '#shared/clock.ts';
import type { Listening, StoreDatabase } from '../../store/session.ts';
import { type Connection, createLocalWriter, openConnection, type Writer } from './connection.ts';
import {
  createThreadWriter,
  type ThreadWriter,
  type ThreadWriterOptions,
} from '../writer/thread-writer.ts';

const LOOK_EVERY_MS = SECOND / 4;
/** How long the writes of a command wait for another process's lock. */
const LOCK_WAIT_MS = 5 * SECOND;
/** The same for those of a service, whose callers wait with them. */
const SERVICE_LOCK_WAIT_MS = SECOND;

/** What the stores work on: they read on the connection, which in a service cannot write, and write through the writer. */
export type Database = Connection & StoreDatabase & { readonly writer: Writer };

/** One that is written in this thread, on a connection of its own: no reader sees what is not committed. */
export type LocalDatabase = Database & { readonly writing: Connection };

/**
 * Opens the file, readable by its owner only when it is new; its directory is created when it is missing.
 * Nothing is migrated: that is `migrate`'s work. Writes are made in this thread, which suits commands.
 * @throws {store-unavailable}
 */
export function openDatabase({ path }: { path: string }): LocalDatabase {
  const connection = openConnection(path);
  const writing = openConnection(path);
  const writer = createLocalWriter(writing, { lockWaitMs: LOCK_WAIT_MS });
  return {
    ...connection,
    writing,
    ...withWriter(connection, writer),
    close: () => {
      writing.close();
      connection.close();
    },
  };
}

/** Nobody tells what another process wrote: the version of the file says that it did. */
function watchVersion(
  connection: Connection,
  looks: Set<() => void>,
  onChanged: () => void,
): Listening {
  let seen: number | undefined;
  const look = async (): Promise<void> => {
    const now = await connection.dataVersion();
    if (now === seen) return;
    seen = now;
    onChanged();
  };
  const lookNow = (): void => void look().catch(() => undefined);
  looks.add(lookNow);
  const timer = setInterval(lookNow, LOOK_EVERY_MS).unref();
  return {
    close: async () => {
      looks.delete(lookNow);
      clearInterval(timer);
    },
  };
}

/**
 * The database whose writes a thread makes from now on: the connection itself cannot write any more.
 * Close the writer before the database.
 */
export function writeInThread(
  database: Database,
  options: Pick<ThreadWriterOptions, 'onCrash' | 'module'>,
): Database & { readonly writer: ThreadWriter } {
  const path = database.handle.name;
  void database.writer.close();
  database.handle.pragma('query_only = ON');
  const writer = createThreadWriter({ path, lockWaitMs: SERVICE_LOCK_WAIT_MS, ...options });
  return { ...database, ...withWriter(database, writer) };
}

/** What depends on who writes. */
function withWriter<W extends Writer>(connection: Connection, writer: W) {
  const looks = new Set<() => void>();
  const callExclusive: Writer['callExclusive'] = async (...call) => {
    const result = await writer.callExclusive(...call);
    for (const look of looks) look();
    return result;
  };
  return {
    writer: { ...writer, callExclusive },
    listen: (_channel: string, onNotified: () => void) =>
      watchVersion(connection, looks, onNotified),
    truncateWal: () => writer.truncateLog(),
  };
}

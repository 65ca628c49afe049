import type { Write } from '../../store/session.ts';
import type { Connection } from '../connection/connection.ts';
import { createGroupCommit } from './group-commit.ts';
import type { GroupCommitOptions, SharedWrite } from './group-commit.ts';
import type { Writer } from './writer.ts';

/** Writes on a connection that is the writer's own, of the thread that it is made in. */
export function createLocalWriter(connection: Connection, options: GroupCommitOptions): Writer {
  const commit = createGroupCommit(connection, options);
  let pending = 0;
  const closing: (() => void)[] = [];
  const forget = (): void => {
    pending -= 1;
    if (pending === 0) for (const goOn of closing.splice(0)) goOn();
  };
  const track = <T>(written: Promise<T>): Promise<T> => {
    pending += 1;
    written.then(forget, forget);
    return written;
  };
  const shares = new Map<Write, SharedWrite['writeAll']>();
  const shareOf = (write: Write, input: readonly unknown[]): SharedWrite | undefined => {
    const { all } = write;
    if (!all) return undefined;
    const writeAll = shares.get(write) ?? ((inputs) => all(connection, inputs as never));
    shares.set(write, writeAll);
    return { input, writeAll };
  };
  const call: Writer['call'] = ({ store, name }, write, input) => {
    const work = (): Promise<unknown> => write(connection, ...(input as never[]));
    return track(commit(work, `${store}.${name}`, shareOf(write, input)));
  };
  return {
    call,
    callInTurn: call,
    truncateLog: async () => connection.truncateLog(),
    foreignVersion: async () => connection.foreignVersion(),
    close: async () => {
      if (pending > 0) await new Promise<void>((resolve) => void closing.push(resolve));
      connection.close();
    },
  };
}

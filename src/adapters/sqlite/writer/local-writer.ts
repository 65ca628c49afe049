import type { Connection } from '../connection.ts';
import { guard } from '../errors.ts';
import { createGroupCommit } from './group-commit.ts';
import type { GroupCommitOptions } from './group-commit.ts';
import type { Writer } from './writer.ts';

/** Writes on a connection of the thread that it is made in. */
export function createLocalWriter(connection: Connection, options: GroupCommitOptions): Writer {
  const commit = createGroupCommit(connection, options);
  const pending = new Set<Promise<unknown>>();
  const track = <T>(written: Promise<T>): Promise<T> => {
    pending.add(written);
    const forget = (): void => void pending.delete(written);
    written.then(forget, forget);
    return written;
  };
  return {
    open: (family, familyOptions) => {
      let writes: ReturnType<typeof family.create> | undefined;
      return (name, ...input) =>
        track(
          commit(() => {
            writes ??= guard(() => family.create(connection, familyOptions));
            return writes[name]?.(...input) as never;
          }, `${family.name}.${name}`),
        );
    },
    truncateLog: async () => connection.truncateLog(),
    foreignVersion: async () => connection.foreignVersion(),
    close: async () => {
      while (pending.size > 0) await Promise.allSettled(pending);
    },
  };
}

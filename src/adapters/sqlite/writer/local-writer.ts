import type { Connection } from '../connection/connection.ts';
import { guard } from '../connection/errors.ts';
import { createGroupCommit } from './group-commit.ts';
import type { GroupCommitOptions, SharedWrite } from './group-commit.ts';
import type { WriteFamily, Writer, Writes } from './writer.ts';

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
  return {
    open: (family, familyOptions) => {
      let created: ReturnType<typeof family.create> | undefined;
      const writes = () => (created ??= guard(() => family.create(connection, familyOptions)));
      const shared = sharedWrites(family, writes);
      return (name, ...input) => {
        const writeAll = shared.get(name);
        const work = () => writes()[name]?.(...input) as never;
        return track(
          commit(work, `${family.name}.${name}`, writeAll && { input: input[0], writeAll }),
        );
      };
    },
    call: ({ store, name }, write, input) =>
      track(commit(() => write(connection, ...(input as never[])), `${store}.${name}`)),
    truncateLog: async () => connection.truncateLog(),
    foreignVersion: async () => connection.foreignVersion(),
    close: async () => {
      if (pending > 0) await new Promise<void>((resolve) => void closing.push(resolve));
      connection.close();
    },
  };
}

/** By the name of the function that makes one of them. */
function sharedWrites<W extends Writes>(
  { together = {} }: Pick<WriteFamily<never, W>, 'together'>,
  writes: () => W,
): Map<string, SharedWrite['writeAll']> {
  const names = Object.entries(together as Record<string, keyof W & string>);
  return new Map(
    names.map(([name, all]) => [name, (inputs) => writes()[all]?.(inputs as never) as unknown[]]),
  );
}

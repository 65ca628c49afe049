import type { Connection } from './connection/connection.ts';
import type { WriteFamily } from './writer/writer.ts';

type CheckWrites = ReturnType<typeof createCheckWrites>;

export const checkWrites: WriteFamily<undefined, CheckWrites> = {
  name: 'write-check',
  create: createCheckWrites,
};

function createCheckWrites({ handle }: Connection) {
  const fill = handle.prepare<[number]>('UPDATE write_check SET filler = zeroblob(?)');
  return { fill: (bytes: number): void => void fill.run(bytes) };
}

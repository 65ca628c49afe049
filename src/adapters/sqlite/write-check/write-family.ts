import type { Connection } from '../connection/connection.ts';
import type { WriteFamily } from '../writer/writer.ts';

/** More than most deliveries: a few bytes may fit where those do not. */
const LARGE_BYTES = 64 * 1024;

const MAKE_LARGE = `
  CREATE TABLE IF NOT EXISTS write_check (id INTEGER PRIMARY KEY, filler BLOB NOT NULL) STRICT;
  INSERT OR REPLACE INTO write_check (id, filler) VALUES (1, zeroblob(${LARGE_BYTES}))`;
const DROP_LARGE = 'DROP TABLE IF EXISTS write_check';

type CheckWrites = ReturnType<typeof createCheckWrites>;

export const checkWrites: WriteFamily<undefined, CheckWrites> = {
  name: 'write-check',
  create: createCheckWrites,
};

function createCheckWrites({ handle }: Connection) {
  const touch = handle.prepare('UPDATE claim_version SET version = version');
  return {
    touch: () => void touch.run(),
    makeLarge: () => void handle.exec(MAKE_LARGE),
    dropLarge: () => void handle.exec(DROP_LARGE),
  };
}

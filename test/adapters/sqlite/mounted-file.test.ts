import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { refuseMountedFile } from '#adapters/sqlite/connection.ts';
import { temporaryFolder } from '../../support/folder.ts';

function makeFile(): string {
  const file = path.join(temporaryFolder(), 'my store.db');
  writeFileSync(file, '');
  return file;
}

const mounted = (place: string): string =>
  `22 1 0:21 / /proc rw - proc proc rw
1042 985 8:1 /home/me/store.db ${place.replaceAll(' ', String.raw`\040`)} rw,relatime - ext4 /dev/sda1 rw
`;

test('a file that is mounted by itself is refused, also through a link', () => {
  const file = makeFile();
  const link = `${file}.link`;
  symlinkSync(file, link);
  for (const name of [file, link])
    expect(() => refuseMountedFile(name, mounted(file))).toThrow(
      expect.objectContaining({
        code: 'store-unavailable',
        detail: expect.stringContaining('Mount its folder'),
      }),
    );
});

test('one whose folder is mounted is not, nor one where nothing is known of mounts', () => {
  const file = makeFile();
  for (const mounts of [mounted(path.dirname(file)), '', undefined])
    expect(() => refuseMountedFile(file, mounts)).not.toThrow();
});

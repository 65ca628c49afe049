import { readFileSync } from 'node:fs';

import { systemCodeOf } from '#shared/errors.ts';

/** A file's text, else what is expected in its place. */
export type FileText = { text: string } | { expected: string };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The text of a file without its byte order mark. Bytes that are no UTF-8 are refused: read as
 * U+FFFD they would make another label or another secret of what was meant.
 */
export function readFileText(path: string): FileText {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    const code = systemCodeOf(error) ?? 'unknown failure';
    const reason = code === 'ENOENT' ? 'ENOENT: there is none' : code;
    return { expected: `a file that can be read (${reason})` };
  }
  try {
    return { text: utf8.decode(bytes) };
  } catch {
    return { expected: 'text in UTF-8, which the bytes of the file are not' };
  }
}

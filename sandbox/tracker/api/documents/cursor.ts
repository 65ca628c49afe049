import { sortValue } from '../../world/issue-index.ts';
import type { IssueRecord, SortKey } from '../../world/model.ts';
import { decodeIntegers, encodeIntegers } from '../msgpack.ts';

const PREFIX = 'cursor:v2:';

/** A position between rows: all rows whose (value, id) lies beyond it. No row need exist there. */
export type Cursor = { value: number; id: number };

/** The cursor at a row, as the real tracker writes it in `Link` (decoded from recorded traffic). */
export function cursorAt(record: IssueRecord, sort: SortKey): string {
  const id = { value: record.id, width: 'uint32' } as const;
  const width = sort === 'comments' ? 'smallest' : 'uint64';
  const values = sort === 'id' ? [id] : [{ value: sortValue(record, sort), width } as const, id];
  return Buffer.concat([Buffer.from(PREFIX), encodeIntegers(values)])
    .toString('base64')
    .replaceAll('+', '-')
    .replaceAll('/', '_');
}

/** Undefined for a text that is no cursor of this version. */
export function parseCursor(text: string): Cursor | undefined {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.subarray(0, PREFIX.length).toString('latin1') !== PREFIX) return undefined;
  const values = decodeIntegers(bytes.subarray(PREFIX.length));
  const [first, second] = values ?? [];
  if (first === undefined || (values?.length ?? 0) > 2) return undefined;
  return second === undefined ? { value: first, id: first } : { value: first, id: second };
}

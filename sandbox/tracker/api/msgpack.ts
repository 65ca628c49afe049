/**
 * The corner of MessagePack that the tracker's cursors and node ids are made of: arrays of up to
 * 15 non-negative integers. @see https://github.com/msgpack/msgpack/blob/master/spec.md
 */

const FIXARRAY = 0x90;
const UINT8 = 0xcc;
const UINT16 = 0xcd;
const UINT32 = 0xce;
const UINT64 = 0xcf;

/** Width in which an integer is written; `smallest` takes as few bytes as it needs. */
export type Width = 'smallest' | 'uint32' | 'uint64';

export function encodeIntegers(values: readonly { value: number; width: Width }[]): Buffer {
  const parts = values.map(({ value, width }) => encodeInteger(value, width));
  return Buffer.concat([Buffer.of(FIXARRAY + values.length), ...parts]);
}

function encodeInteger(value: number, width: Width): Buffer {
  if (width === 'smallest' && value < 0x80) return Buffer.of(value);
  if (width === 'smallest' && value < 0x100) return Buffer.of(UINT8, value);
  if (width === 'smallest' && value < 0x1_0000) return Buffer.of(UINT16, value >> 8, value & 0xff);
  if (width === 'uint64' || value > 0xffff_ffff) {
    const bytes = Buffer.alloc(9, UINT64);
    bytes.writeBigUInt64BE(BigInt(value), 1);
    return bytes;
  }
  const bytes = Buffer.alloc(5, UINT32);
  bytes.writeUInt32BE(value, 1);
  return bytes;
}

/** Undefined for anything but one whole array of non-negative safe integers. */
export function decodeIntegers(bytes: Buffer): number[] | undefined {
  const head = bytes[0] ?? 0;
  if ((head & 0xf0) !== FIXARRAY) return undefined;
  const values: number[] = [];
  let at = 1;
  while (values.length < (head & 0x0f)) {
    const read = decodeInteger(bytes, at);
    if (!read) return undefined;
    values.push(read.value);
    at = read.next;
  }
  return at === bytes.length ? values : undefined;
}

function decodeInteger(bytes: Buffer, at: number): { value: number; next: number } | undefined {
  const head = bytes[at];
  if (head === undefined) return undefined;
  if (head < 0x80) return { value: head, next: at + 1 };
  const size = { [UINT8]: 1, [UINT16]: 2, [UINT32]: 4, [UINT64]: 8 }[head];
  if (size === undefined || at + 1 + size > bytes.length) return undefined;
  const value = size === 8 ? Number(bytes.readBigUInt64BE(at + 1)) : bytes.readUIntBE(at + 1, size);
  return Number.isSafeInteger(value) ? { value, next: at + 1 + size } : undefined;
}

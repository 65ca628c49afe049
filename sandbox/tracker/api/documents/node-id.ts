import { encodeIntegers } from '../msgpack.ts';

/** The opaque id that GraphQL knows a record by: a prefix, then `[0, …ids]` in MessagePack. */
export function nodeId(prefix: string, ...ids: number[]): string {
  const values = [0, ...ids].map((value, at) => ({
    value,
    width: at === 0 ? ('smallest' as const) : ('uint32' as const),
  }));
  return `${prefix}_${encodeIntegers(values).toString('base64url')}`;
}

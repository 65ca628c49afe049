import {
  type ErrorCode,
  type ErrorFacts,
  isTrackportError,
  systemCodeOf,
  TrackportError,
} from '#shared/errors.ts';
import type { WriteName } from '../../store/session.ts';

/** What the thread is started with. */
export type ThreadOptions = { path: string; lockWaitMs: number };

/** The `id` under which the thread says that it has opened the store, or why it has not. */
export const OPENED = 0;

/** What the thread is asked for. Results come back under the same `id`. */
export type WriterRequest =
  | ({ kind: 'call'; id: number; input: readonly unknown[] } & WriteName)
  | { kind: 'truncate-log' | 'close'; id: number };

export type WriterResult =
  | { id: number; kind: 'done'; value: unknown }
  | { id: number; kind: 'refused'; error: ErrorData };

/** An error as data. */
export type ErrorData =
  | { kind: 'trackport'; code: ErrorCode; facts: ErrorFacts; cause?: ErrorData }
  | { kind: 'other'; name: string; message: string; stack: string; code?: string };

/** One message between the threads. */
export type Message<T> = readonly T[];

/** In place of bytes: a text with a character for each. */
type Bytes = { [BYTES]: string };
const BYTES = '\0bytes';

/**
 * Bytes go as text. Structured clone makes a `Uint8Array` of a `Buffer`, and copies the whole pool of 64 KiB that
 * a small one is cut from; buffers of `v8.serialize` are only freed by full garbage collections.
 */
export function encode<T extends WriterRequest | WriterResult>(content: readonly T[]): Message<T> {
  return pack(content) as T[];
}

export function decode<T>(message: Message<T>): readonly T[] {
  return unpack(message) as T[];
}

function pack(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Buffer.isBuffer(value)) return { [BYTES]: value.toString('latin1') } satisfies Bytes;
  return mapMembers(value, pack);
}

function unpack(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (BYTES in value) return Buffer.from((value as Bytes)[BYTES], 'latin1');
  return mapMembers(value, unpack);
}

/** Of what is plain data; all else goes as it is. */
function mapMembers(value: object, map: (member: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(map);
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const mapped: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) mapped[name] = map(member);
  return mapped;
}

export function toErrorData(error: unknown): ErrorData {
  if (!isTrackportError(error)) return toOtherData(error);
  const { code, detail, errors, retryAfterSeconds, extensions, cause } = error;
  return {
    kind: 'trackport',
    code,
    facts: { detail, errors, retryAfterSeconds, extensions },
    cause: cause === undefined ? undefined : toOtherData(cause),
  };
}

function toOtherData(error: unknown): ErrorData {
  const { name, message, stack = '' } = error instanceof Error ? error : new Error(typeof error);
  const code = systemCodeOf(error);
  return { kind: 'other', name, message, stack, code };
}

export function toError(data: ErrorData): Error {
  if (data.kind === 'trackport') {
    const { code, facts, cause } = data;
    return new TrackportError(code, { ...facts, cause: cause && toError(cause) });
  }
  const { name, message, stack, code } = data;
  return Object.assign(new Error(message), { name, stack, ...(code !== undefined && { code }) });
}

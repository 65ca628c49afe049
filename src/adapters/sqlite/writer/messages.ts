import { deserialize, serialize } from 'node:v8';
import { isTrackportError, systemCodeOf, TrackportError } from '#shared/errors.ts';
import type { ErrorCode, ErrorFacts } from '#shared/errors.ts';
import type { WriteName } from '../../store/session.ts';
import type { FamilyName } from './writer.ts';

/** What the thread is started with. */
export type ThreadOptions = { path: string; lockWaitMs: number };

/** The `id` under which the thread says that it has opened the store, or why it has not. */
export const OPENED = 0;

/** What the thread is asked for. Results come back under the same `id`. */
export type WriterRequest =
  /** From now on `family` stands for the functions of this name with these options. */
  | { kind: 'open'; family: number; name: FamilyName; options: unknown }
  | ({ kind: 'call'; id: number; input: readonly unknown[] } & WriteName)
  | { kind: 'write'; id: number; family: number; name: string; input: unknown[] }
  | { kind: 'truncate-log' | 'foreign-version' | 'close'; id: number };

export type WriterResult =
  | { id: number; kind: 'done'; value: unknown }
  | { id: number; kind: 'refused'; error: ErrorData };

/** An error as data. */
export type ErrorData =
  | { kind: 'trackport'; code: ErrorCode; facts: ErrorFacts; cause?: ErrorData }
  | { kind: 'other'; name: string; message: string; stack: string; code?: string };

/** One message between the threads: the content itself, or its bytes. */
export type Message<T> = readonly T[] | Uint8Array;

/**
 * Content without bytes goes as it is, by structured clone. That would turn a `Buffer` into a `Uint8Array`,
 * and copy all of the memory that it is a small part of: content with one is serialized first. Not always,
 * because what `serialize` and `deserialize` touch outlives all small garbage collections.
 */
export function encode<T extends WriterRequest | WriterResult>(content: readonly T[]): Message<T> {
  return content.some(mayHoldBytes) ? serialize(content) : content;
}

export function decode<T>(message: Message<T>): readonly T[] {
  return message instanceof Uint8Array ? (deserialize(message) as T[]) : message;
}

function mayHoldBytes(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(mayHoldBytes);
  return (
    Object.getPrototypeOf(value) !== Object.prototype || Object.values(value).some(mayHoldBytes)
  );
}

/** What `postMessage` hands over rather than copies. */
export function transferOf(message: Message<unknown>): ArrayBuffer[] {
  return message instanceof Uint8Array ? [message.buffer as ArrayBuffer] : [];
}

export function toErrorData(error: unknown): ErrorData {
  if (!isTrackportError(error)) return toOtherData(error);
  const { code, detail, errors, retryAfterSeconds, extensions, cause } = error;
  return {
    kind: 'trackport',
    code,
    facts: {
      ...(detail !== undefined && { detail }),
      ...(errors && { errors: [...errors] }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      ...(extensions && { extensions: { ...extensions } }),
    },
    ...(cause !== undefined && { cause: toOtherData(cause) }),
  };
}

function toOtherData(error: unknown): ErrorData {
  const { name, message, stack = '' } = error instanceof Error ? error : new Error(typeof error);
  const code = systemCodeOf(error);
  return { kind: 'other', name, message, stack, ...(code !== undefined && { code }) };
}

export function toError(data: ErrorData): Error {
  if (data.kind === 'trackport') {
    const { code, facts, cause } = data;
    return new TrackportError(code, { ...facts, ...(cause && { cause: toError(cause) }) });
  }
  const { name, message, stack, code } = data;
  return Object.assign(new Error(message), { name, stack, ...(code !== undefined && { code }) });
}

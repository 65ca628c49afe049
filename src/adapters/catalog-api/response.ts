import { readBytes } from '#shared/text/read-bytes.ts';
import { isRecord } from '#shared/text/json.ts';
import { z } from 'zod';

/** More than a version with the largest spec can have. */
const RESPONSE_BYTES_MAX = 16 * 1024 * 1024;

/** A response that was received whole. */
export type ServerResponse = { status: number; headers: Headers; bytes: Buffer };

const text = z.string();

const field = z.object({
  pointer: text.optional(),
  parameter: text.optional(),
  code: text,
  detail: text,
});

/** Of a problem document (RFC 9457) what is used: a later server may say more. */
const problem = z.object({
  code: text,
  detail: text.optional(),
  errors: z.array(field).optional(),
});

/** One wrong part of a request, as a server says it. */
export type ProblemField = z.infer<typeof field>;

/** What a problem document says. */
export type Problem = z.infer<typeof problem>;

/** Reads a response to its end. Throws `TypeError` when it is too long, and what the connection throws. */
export async function readResponse(response: Response): Promise<ServerResponse> {
  const { status, headers, body } = response;
  const tooLong = (): Error => new TypeError('the response is too long');
  return { status, headers, bytes: await readBytes(body, RESPONSE_BYTES_MAX, tooLong) };
}

/** Every success of Trackport is JSON; a page for people comes from something else at its address. */
export function isSuccess({ status, headers }: ServerResponse): boolean {
  return status < 300 && /^application\/json\b/i.test(headers.get('content-type') ?? '');
}

/** The problem that a response is; undefined when it is none. */
export function problemOf({ headers, bytes }: ServerResponse): Problem | undefined {
  if (!/^application\/problem\+json\b/i.test(headers.get('content-type') ?? '')) return undefined;
  return problem.safeParse(parse(bytes)).data;
}

/** The JSON object that a response is; undefined when it is none. */
export function jsonOf({ bytes }: ServerResponse): Record<string, unknown> | undefined {
  const value = parse(bytes);
  return isRecord(value) ? value : undefined;
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

import { invalid, refusal } from './response.ts';

/** Reading request bodies and queries as the real tracker does, refusals included. */

type Body = Readonly<Record<string, unknown>>;

/** The JSON object of a body; `{}` when it is empty. @throws Refusal 400 */
export function objectOf(bytes: Buffer): Record<string, unknown> {
  if (bytes.length === 0) return {};
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    throw refusal(400, 'Problems parsing JSON');
  }
  // Labels of an issue may also come as a bare array of names.
  if (Array.isArray(value)) return { labels: value as unknown[] };
  if (typeof value !== 'object' || value === null)
    throw refusal(400, 'Body should be a JSON object');
  return value as Record<string, unknown>;
}

/** A text member; undefined when absent. @throws Refusal 422 */
export function textOf(body: Body, name: string): string | undefined {
  const value = body[name];
  if (value === undefined || typeof value === 'string') return value;
  throw wrongType(name, value, 'a string');
}

/** A text member that may be null. @throws Refusal 422 */
export function textOrNullOf(body: Body, name: string): string | null | undefined {
  return body[name] === null ? null : textOf(body, name);
}

/** A list of names; objects with a `name` count too, as for labels. @throws Refusal 422 */
export function namesOf(body: Body, name: string): string[] | undefined {
  const value = body[name];
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw wrongType(name, value, 'an array');
  return value.map((item: unknown) => {
    const text = typeof item === 'object' && item !== null ? Object(item).name : item;
    if (typeof text === 'string') return text;
    throw wrongType(name, item, 'a string');
  });
}

/** 1 to 100, whatever is given; anything else is 30. */
export function perPageOf(query: URLSearchParams): number {
  const given = Number.parseInt(query.get('per_page') ?? '', 10);
  return given >= 1 ? Math.min(given, 100) : 30;
}

/** From 1; anything else is 1. */
export function pageOf(query: URLSearchParams): number {
  const given = Number.parseInt(query.get('page') ?? '', 10);
  return given >= 1 ? given : 1;
}

/** An instant in milliseconds. @throws Refusal 422 for a text that is none */
export function instantOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (!text) return undefined;
  const instant = Date.parse(text);
  if (!Number.isNaN(instant)) return instant;
  throw invalid({ value: text, resource: 'Issue', field: name, code: 'invalid' });
}

function wrongType(name: string, value: unknown, wanted: string) {
  return refusal(
    422,
    `Invalid request.\n\nFor 'properties/${name}', ${JSON.stringify(value)} is not ${wanted}.`,
  );
}

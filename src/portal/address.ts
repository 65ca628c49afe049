/** Addresses of the portal: those of lists, with filters that a form may leave empty, and those to come back to. */
import { z } from 'zod';

const TEXT_CHARACTERS_MAX = 512;
/** A cursor carries the filters, each of them as long as it may be. */
const CURSOR_CHARACTERS_MAX = 6144;

/** Text of at most so many characters, default 512; an empty one is none. */
export const textFilter = (charactersMax = TEXT_CHARACTERS_MAX) =>
  z
    .string('must be given once')
    .max(charactersMax, `must have at most ${charactersMax} characters`)
    .trim()
    .transform((value) => value || undefined)
    .optional();

const inCode = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(', ');

/** One of these words, or none. */
export const oneOfFilter = <const Words extends readonly string[]>(words: Words) =>
  z
    .union([z.literal(''), z.enum(words)], `must be one of ${inCode(words)}`)
    .transform((value) => value || undefined)
    .optional();

/** A day, or one of its minutes, in UTC, or none. */
export const instantFilter = z
  .union(
    [z.literal(''), z.iso.date(), z.iso.datetime({ local: true, precision: -1 })],
    'must be a day or a minute, such as 2026-11-21 or 2026-11-21T14:02',
  )
  .transform((value) => value || undefined)
  .optional();

/** Start of a page of a list. */
export const cursorFilter = textFilter(CURSOR_CHARACTERS_MAX);

/** Number of rows before the first that is shown. */
export const startParameter = z
  .string()
  .regex(/^[0-9]{1,4}$/, 'must be a number')
  .optional()
  .transform((digits) => Number(digits ?? 0));

/** The values that are there. */
export function present<T extends object>(
  values: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** A page of a list as use cases ask for it. */
export function pageOf(limit: number, cursor?: string): { limit: number; cursor?: string } {
  return cursor === undefined ? { limit } : { limit, cursor };
}

/** A path with what is given of a query. */
export function withQuery(
  path: string,
  query: Readonly<Record<string, string | undefined>>,
): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const search = new URLSearchParams(given).toString();
  return search === '' ? path : `${path}?${search}`;
}

const PATH_CHARACTERS_MAX = 2000;
const OWN_PATH = /^\/portal(?:[/?][\x21-\x5b\x5d-\x7e]*)?$/;

/** Browsers resolve dot segments, encoded ones as well, and read `//` as a host. */
const ESCAPES_PORTAL = /\/\/|\/(?:\.|%2e){1,2}(?:\/|$)/i;

/**
 * A path of the portal to come back to, out of what anybody can put into an address; else its first
 * page. The parts of sign-in lead nowhere, and a path with `\` or `//` could leave this service.
 */
export function ownPath(given: unknown): string {
  if (typeof given !== 'string' || given.length > PATH_CHARACTERS_MAX) return '/portal';
  const [path = ''] = given.split('?');
  const isOwn = OWN_PATH.test(given) && !ESCAPES_PORTAL.test(path);
  const isSignIn = /^\/portal\/(?:sign-in|sign-out|signed-out|callback)/.test(path);
  return isOwn && !isSignIn ? given : '/portal';
}

/** Address of the sign-in that leads back to `path`. */
export function signInPath(path: string): string {
  return path === '/portal' ? '/portal/sign-in' : `/portal/sign-in?to=${encodeURIComponent(path)}`;
}

/** `path` with one more parameter, before a fragment if it has one. */
export function withParameter(path: string, name: string, value: string): string {
  const [before = '', ...fragment] = path.split('#');
  const mark = before.includes('?') ? '&' : '?';
  const rest = fragment.length > 0 ? `#${fragment.join('#')}` : '';
  return `${before}${mark}${name}=${encodeURIComponent(value)}${rest}`;
}

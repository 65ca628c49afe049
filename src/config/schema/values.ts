/**
 * The kinds of values in the configuration. Each kind's `error` is the text that a person reads
 * after "expected", so it says what is allowed, not what was found.
 */
import { isIP } from 'node:net';
import { z } from 'zod';
import { Secret } from '#shared/crypto/secret.ts';
import {
  DURATION_PATTERN,
  formatDuration,
  parseDuration,
  parseSize,
  SIZE_PATTERN,
} from '#shared/text/units.ts';
import { isRecord } from '#shared/text/json.ts';
import { isLongerThan } from '#shared/text/visible.ts';

/** A section; refusals of unknown keys and of another type than a section read like all others. */
export function section<Shape extends z.core.$ZodShape>(
  shape: Shape,
  allowed = 'a section with keys',
) {
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'invalid_type' ? allowed : undefined),
  });
}

/** One line of text that is not blank. */
export function line(allowed = 'a text of one line') {
  return z
    .string({ error: allowed })
    .regex(/^[^\p{Cc}]*\S[^\p{Cc}]*$/u, { error: allowed })
    .transform((text) => text.trim());
}

const NAME_CHARACTERS_MAX = 255;

/** The name of something in the tracker, as long as one can be there. */
export function trackerName(what: string) {
  return line(`the name of ${what}`).refine((text) => !isLongerThan(text, NAME_CHARACTERS_MAX), {
    error: `the name of ${what}, of at most ${NAME_CHARACTERS_MAX} characters`,
  });
}

export const labelName = () => trackerName('a label');

/** Labels and headings are compared like this. */
export function foldName(value: unknown): string {
  return typeof value === 'string' ? value.trim().normalize('NFC').toLowerCase() : '';
}

/** Text of one fixed shape. */
export function shaped(pattern: RegExp, allowed: string) {
  return z.string({ error: allowed }).regex(pattern, { error: allowed });
}

/** A whole number within both bounds. */
export function integer(min: number, max: number) {
  const error = `a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** A whole number above 0. */
export function positive(allowed: string) {
  return z.int({ error: allowed }).positive({ error: allowed });
}

/** `true` or `false`. */
export function flag() {
  return z.boolean({ error: 'true or false' });
}

/** One of a few words. */
export function word<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, { error: `one of ${words.join(', ')}` });
}

/** A list; `what` names one element in the plural. */
export function list<Item extends z.ZodType>(
  item: Item,
  what: string,
  { min = 0, max = 100 } = {},
) {
  const error = `a list of ${min === 0 ? 'at most' : `${min} to`} ${max} ${what}`;
  return z.array(item, { error }).min(min, { error }).max(max, { error });
}

/**
 * Values under names that the file gives. A wrong name is refused beside what is wrong below it,
 * where the key schema of a `z.record` would hide the latter.
 */
export function named<Value extends z.ZodType>(
  value: Value,
  name: { pattern: RegExp; allowed: string },
  allowed: string,
) {
  return z
    .record(z.string(), value, { error: allowed })
    .superRefine(
      (values, context) => {
        for (const key of Object.keys(values).filter((key) => !name.pattern.test(key)))
          context.addIssue({
            code: 'custom',
            path: [key],
            message: name.allowed,
            params: { name: true },
          });
      },
      { when: ({ value: values }) => isRecord(values) },
    )
    .meta({ propertyNames: { pattern: name.pattern.source } });
}

/** Names that readers get fields by, those of the form and of the tracker. */
export const fieldNames = {
  pattern: /^[A-Za-z][A-Za-z0-9_]{0,63}$/,
  allowed: 'a field name of letters, digits and underscores',
};

/** A duration within both bounds, read as milliseconds. */
export function duration(min: number, max: number) {
  const error = `a duration from ${formatDuration(min)} to ${formatDuration(max)}, such as 500ms, 15s, 5m, 24h or 30d`;
  return shaped(DURATION_PATTERN, error)
    .transform((text) => parseDuration(text) ?? Number.NaN)
    .refine((ms) => ms >= min && ms <= max, { error });
}

/** A size within both bounds (given as text), read as bytes. */
export function size(min: string, max: string) {
  const error = `a size from ${min} to ${max}, such as 64KiB or 1MiB`;
  const [least, most] = [parseSize(min) ?? 0, parseSize(max) ?? 0];
  return shaped(SIZE_PATTERN, error)
    .transform((text) => parseSize(text) ?? Number.NaN)
    .refine((bytes) => bytes >= least && bytes <= most, { error });
}

/** An absolute http(s) address without credentials, query and fragment, and without a last slash. */
export function httpUrl() {
  const error =
    'an http:// or https:// address without credentials, query and fragment, such as https://example.com';
  return z
    .string({ error })
    .refine(isPlainHttpUrl, { error })
    .transform((text) => inAscii(text).replace(/\/+$/, ''));
}

/** As it goes over the wire and into headers: a host name in other letters has a form in ASCII (IDNA). */
function inAscii(text: string): string {
  return /^[\x21-\x7e]*$/.test(text) ? text : new URL(text).href;
}

/** An address that is compared byte for byte, so it stays as it is written. */
export function exactHttpUrl() {
  const error = 'an http:// or https:// address without credentials, query and fragment';
  return z.string({ error }).refine(isPlainHttpUrl, { error });
}

function isPlainHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  if (!url || /\s/.test(text)) return false;
  const isHttp = url.protocol === 'https:' || url.protocol === 'http:';
  return isHttp && !url.username && !url.password && !/[?#]/.test(text);
}

/** The origin of pages as browsers send it (RFC 6454 section 6.2), or `*` for every one. */
export function browserOrigin() {
  const message =
    'an origin (scheme, host and port as browsers send them) such as https://sales.example.com, or "*"';
  return z
    .string({ error: message })
    .superRefine((text, context) => {
      const origin = originOf(text);
      if (text === '*' || text === origin) return;
      const params = {
        ...(origin !== undefined && { suggestion: `did you mean ${origin}?` }),
      };
      context.addIssue({ code: 'custom', message, params });
    })
    .meta({ pattern: String.raw`^(?:\*|https?://[^\s/?#@*]+)$` });
}

/** The origin that a browser sends for pages at this address, which may lack its scheme. */
function originOf(text: string): string | undefined {
  const isHost = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?\/?$/i.test(text);
  const url = URL.parse(isHost ? `https://${text}` : text);
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  return isWeb && /^(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)$/.test(url.hostname) ? url.origin : undefined;
}

const PROXY_GROUPS = ['loopback', 'linklocal', 'uniquelocal'];

/** An IP address, a range of them, or one of the groups that Fastify knows. */
export function proxyAddress() {
  const error = `an IP address, a range such as 10.0.0.0/8, or one of ${PROXY_GROUPS.join(', ')}`;
  return z.string({ error }).refine(isProxyAddress, { error });
}

function isProxyAddress(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const bitsMax = isIP(address) === 6 ? 128 : 32;
  if (isIP(address) === 0 || rest.length > 0) return PROXY_GROUPS.includes(text);
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= bitsMax);
}

/** Quotation marks in pairs, as shells, YAML and word processors have them. */
const QUOTED = /^(?:"[^]*"|'[^]*'|`[^]*`|[“”„][^]*[“”]|[‘’‚][^]*[‘’]|[«»][^]*[«»])$/;
const INVISIBLE = /[\p{Cc}\p{Cf}]/u;

/** Something that came with a value on its way to here, and its remedy. It tells nothing of the value itself. */
type Stray = { what: string; remedy: string };

export function straysIn(text: string): Stray[] {
  const [sign] = INVISIBLE.exec(text) ?? [];
  return [
    ...(QUOTED.test(text.trim())
      ? [{ what: 'quotation marks around it', remedy: 'take the marks away where it is set' }]
      : []),
    ...(sign === undefined ? [] : [strayOf(sign)]),
  ];
}

function strayOf(sign: string): Stray {
  const remedy = 'save what sets it with plain line ends (LF)';
  if (sign === '\r') return { what: 'a carriage return in it', remedy };
  if (sign === '\n') return { what: 'a line break in it', remedy: 'give it in one line' };
  const code = sign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  return { what: `an invisible sign in it (U+${code})`, remedy: 'take the sign out' };
}

/** Refuses a secret in quotation marks or with control characters: every call that it is for would fail. */
function refuseStray(text: string, context: z.RefinementCtx<string>): void {
  const strays = straysIn(text);
  if (strays.length === 0) return;
  const params = {
    stray: `with ${strays.map(({ what }) => what).join(' and ')}`,
    suggestion: strays.map(({ remedy }) => remedy).join('; '),
  };
  const message = 'the value alone, in one line';
  context.addIssue({ code: 'custom', message, params, continue: false });
}

function notBlank(allowed: string) {
  return z
    .string({ error: allowed })
    .min(1, { error: allowed })
    .refine((text) => text.trim() !== '', { error: allowed });
}

/** Text that must never be shown. It is not trimmed: every byte of a secret counts. */
export function secret(allowed = 'a secret that is not empty') {
  return notBlank(allowed)
    .superRefine(refuseStray)
    .transform((text) => new Secret(text))
    .meta({ writeOnly: true });
}

/** A key as PEM text, which has lines. Its reader says what is wrong with it. */
export function pemKey(allowed: string) {
  return notBlank(allowed)
    .transform((text) => new Secret(text))
    .meta({ writeOnly: true });
}

/** At least 32 bytes in base64. */
export function keyMaterial() {
  const error = 'at least 32 random bytes in base64, as `openssl rand -base64 32` prints them';
  return z
    .string({ error })
    .superRefine(refuseStray)
    .refine((text) => /^[A-Za-z0-9+/_-]+={0,2}$/.test(text.trim()), { error })
    .refine((text) => Buffer.from(text, 'base64').length >= 32, { error })
    .transform((text) => new Secret(text.trim()))
    .meta({ writeOnly: true });
}

/** Address of a store, by its engine. */
export type StoreAddress =
  | { readonly engine: 'sqlite'; readonly path: string }
  | { readonly engine: 'postgres'; readonly url: Secret };

/**
 * A file, for SQLite: `:memory:` would lose what was acknowledged, and what looks like a host or a
 * query would become part of its name. For PostgreSQL one host, and no @ behind it: a password with a
 * /, ? or # that is not percent-encoded would be read, and shown, as host and database.
 */
const STORE_URL =
  /^(?:sqlite:(?!:memory:|\/\/[^/]|\/\/\S*@)[^\s?](?:[^?\n]*[^\s?])?|postgres(?:ql)?:\/\/(?:[^/?#]*@)?(?:\[[\d.:A-Fa-f]+\]|[^/?#@:,[\]]*)(?::\d{1,5})?(?:\/[^@#]*)?(?:\?[^@#]*)?)$/;

/** `sqlite:PATH` or `postgres://…`. */
export function storeUrl() {
  const error =
    'sqlite:PATH with the path of a file, or postgres://user:password@host/database (in a password / is %2F, ? is %3F, # is %23)';
  return z
    .string({ error })
    .superRefine(refuseStray)
    .regex(STORE_URL, { error })
    .transform(toStoreAddress);
}

function toStoreAddress(url: string): StoreAddress {
  return url.startsWith('sqlite:')
    ? { engine: 'sqlite', path: url.slice('sqlite:'.length) }
    : { engine: 'postgres', url: new Secret(url) };
}

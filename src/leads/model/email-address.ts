/**
 * E-mail addresses as people write them into a field: with a name before, marks around, a word behind,
 * several in one value, as HTML or Markdown, by a keyboard of full width. Between two `@` stand the
 * domain of the one address and the local part of the next, and nothing else decides where they end.
 * A domain ends where no host name goes on. Signs that a local part may hold (RFC 5322 section 3.2.3)
 * stay, unless they stand behind a domain as well, as marks in pairs do, or join two addresses.
 */
import { domainToASCII } from 'node:url';
import { withoutInvisible } from '#shared/text/visible.ts';

/**
 * A longer text is no e-mail address: 64 characters, `@`, 255 characters (RFC 5321 §4.5.3.1). Looked at
 * first, for bringing strangers' text into a normal form can take quadratic time.
 */
const EMAIL_CHARACTERS_MAX = 320;

/** True for a text that is short enough to be an e-mail address. */
export function isEmailLength(text: string): boolean {
  return text.length <= EMAIL_CHARACTERS_MAX;
}

const AT = /@(?:\s*@)*/;
const NOT_IN_LOCAL = /[^\w.!#$%&'*+/=?^`{|}~\p{L}\p{M}\p{N}-]/u;
/** A quoted local part may hold blanks (RFC 5322 section 3.4.1). */
const QUOTED_LOCAL = /"([^"\\]+)"\s*$/;
/** No local part begins like this. */
const NOT_AT_START = /^[.\p{M}]+/u;

/** Scripts that leave no blank between a word and an address. */
const UNSPACED = String.raw`[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}]`;
const WORD_BEFORE = new RegExp(String.raw`^.*${UNSPACED}(?=[a-z])`, 'iu');

const DOT = '[.。]';
const SIGN_OF_LABEL = String.raw`[\p{L}\p{M}\p{N}-]|(?<=[lL])·(?=[lL])`;
const LABEL = String.raw`[\p{L}\p{N}](?:(?:${SIGN_OF_LABEL})*[\p{L}\p{M}\p{N}])?`;
/** Names of top level have no digits, but for those that stand for another script (RFC 3696 section 2). */
const TOP_LEVEL = String.raw`(?:xn--[a-zA-Z\d-]*[a-zA-Z\d]|[a-zA-Z]{2,}|(?![a-zA-Z])\p{L}[\p{L}\p{M}]+)`;
const DOMAIN_END = String.raw`(?!(?!${UNSPACED})[\p{L}\p{M}\p{N}])`;
const DOMAIN = new RegExp(String.raw`^(?:${LABEL}${DOT})+${TOP_LEVEL}${DOMAIN_END}`, 'u');
/** A host of one label is one of a network of its own, or a slip: it must stand alone. */
const HOST = new RegExp(String.raw`^(?=\p{L})${LABEL}(?=${DOT}?(?:$|[\s<>()[\],;:"]))`, 'u');
const NO_DOMAIN = /^[\p{L}\p{M}\p{N}.。-]+/u;

/**
 * Joins a domain with the next address: all signs, but for those behind a mark of lists, which may
 * belong to the next local part, and signs that join after a blank.
 */
const BEHIND_DOMAIN =
  /^(?:[^\p{L}\p{M}\p{N}\s]*[,;、،؛]|[^\p{L}\p{M}\p{N}\s]*(?:\s+[/|&+]+(?=\S))?)/u;

/** Marks that people put around something, and a local part may hold: each with the one that closes. */
const CLOSING: Readonly<Record<string, string>> = {
  "'": "'",
  '`': '`',
  '*': '*',
  _: '_',
  '~': '~',
  '|': '|',
  '/': '/',
  '{': '}',
};

/** Most are written so, and are the address as they stand. */
const PLAIN_ADDRESS =
  /^[a-z\d][\w.+-]{0,63}@(?:[a-z\d]{1,30}(?:-[a-z\d]{1,30})?\.){1,3}[a-z]{2,12}$/i;

/** The text between two `@`, taken apart. */
type Between = { domain?: string; behind: string; local: string };

/**
 * Every address in a text, in the form in which they are compared: without regard to case, the domain in
 * ASCII (IDNA). One whose domain cannot be one is none, and so is a text that is too long.
 */
export function addressesIn(text: string): string[] {
  if (PLAIN_ADDRESS.test(text)) return [text.toLowerCase()];
  if (!isEmailLength(text)) return [];
  const pieces = plain(text).split(AT);
  const read = pieces.map(readBetween);
  const found = read.flatMap(({ local }, place) => {
    const domain = read[place + 1]?.domain;
    const behind = read.slice(place + 1).map((next) => next.behind);
    const own = withoutOpening(local, behind.join(''));
    return domain === undefined || own === '' ? [] : [`${own}@${domain}`];
  });
  return [...new Set(found)];
}

/** False for a host of one label: it may be a slip, and the same person's as another one. */
export function provesPerson(address: string): boolean {
  return address.slice(address.lastIndexOf('@')).includes('.');
}

function readBetween(piece: string, place: number, pieces: readonly string[]): Between {
  if (place === 0) return { behind: '', local: localAt(piece) };
  const text = piece.trimStart();
  // With a blank before it, what is no domain is a word.
  const host = (DOMAIN.exec(text) ?? HOST.exec(piece))?.[0];
  const rest = text.slice((host ?? NO_DOMAIN.exec(piece)?.[0] ?? '').length);
  const behind = BEHIND_DOMAIN.exec(rest)?.[0] ?? '';
  // Else nothing tells where the domain ends and the next local part begins.
  const isEnded = rest !== '' || place === pieces.length - 1;
  const domain = host !== undefined && isEnded ? toAscii(host) : undefined;
  return { domain, behind, local: localAt(rest.slice(behind.length)) };
}

/** The local part at the end of a text, empty for none. */
function localAt(before: string): string {
  const text = foldCase(before);
  const quoted = QUOTED_LOCAL.exec(text)?.[1];
  if (quoted !== undefined && NOT_IN_LOCAL.test(quoted)) return `"${quoted}"`;
  const local = quoted ?? text.trimEnd().split(NOT_IN_LOCAL).at(-1) ?? '';
  return local.replace(WORD_BEFORE, '').replace(NOT_AT_START, '');
}

/** Without marks at its start that close behind the domain, or behind that of a later address. */
function withoutOpening(local: string, behind: string): string {
  const closing = CLOSING[local.charAt(0)];
  const isAround = closing !== undefined && behind.includes(closing);
  return isAround ? withoutOpening(local.slice(1), behind) : local.replace(NOT_AT_START, '');
}

/** Undefined for what IDNA takes for no name. */
function toAscii(domain: string): string | undefined {
  const ascii = domainToASCII(domain);
  const isLong = ascii.length > 253 || ascii.split('.').some((label) => label.length > 63);
  return ascii === '' || isLong ? undefined : ascii;
}

const HTML_REFERENCE = /&(?:#0*(\d{1,6})|#x0*([\da-f]{1,5})|([a-z]{2,8}));/gi;
const HTML_NAMES: Readonly<Record<string, string>> = {
  commat: '@',
  period: '.',
  lowbar: '_',
  amp: '&',
  apos: "'",
  quot: '"',
  lt: '<',
  gt: '>',
  nbsp: ' ',
  num: '#',
  plus: '+',
  comma: ',',
  semi: ';',
  sol: '/',
};
const UNICODE_LAST = 0x10ffff;
/** @see CommonMark 0.31.2 section 2.4 */
const MARKDOWN_ESCAPE = /\\([!-/:-@[-`{-~])/g;
/** A name in quotation marks before an address in angle brackets, which can look like another address. */
const DISPLAY_NAME = /"[^"]*"(?=\s*<)/g;
/** The query of a mail link (RFC 6068): no address in it is of the person whom the text is about. */
const QUERY = /(@[^\s?<>@]*)\?[\w-]+=[^\s<>()"]*/g;
/** Two addresses with a dot between: the last label is the next one's local part. */
const JOINED_BY_DOT = new RegExp(
  String.raw`@(${LABEL}${DOT}${TOP_LEVEL})${DOT}(?=${LABEL}\s*@)`,
  'gu',
);
/** Apostrophes and hyphens within a word as word processors write them. */
const APOSTROPHE = /(?<=[\p{L}\p{N}])[‘’ʼ′](?=[\p{L}\p{N}])/gu;
const HYPHEN = /(?<=[\p{L}\p{N}])[‐‒–—−](?=[\p{L}\p{N}])/gu;

/** The text as a reader of the page sees it, with signs of full width as what they mean. */
function plain(text: string): string {
  return withoutInvisible(text.replace(HTML_REFERENCE, signOf))
    .normalize('NFKC')
    .replace(MARKDOWN_ESCAPE, '$1')
    .replace(DISPLAY_NAME, ' ')
    .replace(APOSTROPHE, "'")
    .replace(HYPHEN, '-')
    .replace(QUERY, '$1 ')
    .replace(JOINED_BY_DOT, '@$1,');
}

function signOf(reference: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return HTML_NAMES[name.toLowerCase()] ?? reference;
  const code = decimal === undefined ? parseInt(hex ?? '', 16) : Number(decimal);
  return code === 0 || code > UNICODE_LAST ? reference : String.fromCodePoint(code);
}

/** A sigma at the end of a word has a small letter of its own. */
function foldCase(text: string): string {
  return text.toLowerCase().normalize('NFKC').replaceAll('ς', 'σ');
}

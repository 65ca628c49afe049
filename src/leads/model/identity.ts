/**
 * How identities are compared: as people write them. The lead directory and the matching of
 * partners' events use these same functions, so that both sides always agree. Lengths are looked at
 * first: strangers write these texts, and bringing one into a normal form can take quadratic time.
 */
import { domainToASCII } from 'node:url';

/** What a partner can know a lead by, besides its number. */
export type LeadIdentity =
  | { kind: 'correlation-id'; value: string }
  | { kind: 'external-id'; partnerId: string; value: string }
  | { kind: 'email'; value: string };

/** A longer text is no e-mail address: 64 characters, `@`, 255 characters (RFC 5321 §4.5.3.1). */
const EMAIL_CHARACTERS_MAX = 320;
const LEAD_ID_CHARACTERS_MAX = 64;

/** Zero-width spaces and joiners, marks of direction, soft hyphens. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
/** An address in angle brackets, whatever name stands before it. */
const IN_BRACKETS = /<([^<>]+@[^<>]+)/;
const MAIL_LINK = /^(?:mailto:\s*)+/i;
/** A sentence, or a list of addresses, goes on behind it. */
const BEHIND_DOMAIN = /[\s.,;]+$/;
const ADDRESS = /[^@\s<>]\s*@\s*[^@\s<>]/;
const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}]/u;
const IS_ASCII = /^\p{ASCII}*$/u;
const NOT_IN_DOMAINS = /[\s%/:?#@[\]\\]/;
/** No leading zeros: what is padded is a number of the partner's own. */
const LEAD_ID = /^(?:#\s*)?([1-9]\d{0,14})$/;

/** True for a text that is short enough to be an e-mail address. */
export function isEmailLength(text: string): boolean {
  return text.length <= EMAIL_CHARACTERS_MAX;
}

/** False for blanks and invisible characters, which name nobody. */
export function hasText(text: string): boolean {
  return VISIBLE.test(text);
}

/**
 * True for a text that may be somebody's e-mail address. People write `n/a` and `-` into such fields,
 * too, and that tells of nobody whether two are the same person.
 */
export function isEmailAddress(text: string): boolean {
  return ADDRESS.test(text);
}

/**
 * An e-mail address in the form in which it is compared: without a display name, angle brackets,
 * `mailto:`, blanks around it or its `@`, marks behind it and invisible characters, without regard to
 * case, its domain in ASCII (IDNA). A text that is too long to be one comes back as it is.
 */
export function normalizeEmail(text: string): string {
  if (!isEmailLength(text)) return text;
  const visible = withoutInvisible(text).normalize('NFC');
  const address = (IN_BRACKETS.exec(visible)?.[1] ?? visible).trim();
  const at = address.lastIndexOf('@');
  if (at === -1) return foldCase(address);
  const local = address.slice(0, at).replace(MAIL_LINK, '').trim();
  const domain = normalizeDomain(
    address
      .slice(at + 1)
      .replace(BEHIND_DOMAIN, '')
      .trim(),
  );
  // In another script a full stop is another character, until it is ASCII.
  return `${foldCase(local)}@${domain.replace(BEHIND_DOMAIN, '')}`;
}

/** Between signs that no address has outside of quotation marks (RFC 5322 section 3.2.3). */
const SEPARATE_ADDRESS = /[^\s@<>()[\],;:"\\]+@[^\s@<>()[\],;:"\\]+/g;
const ADDRESSES_MAX = 8;

/**
 * The text, and the addresses in it: people type two into one field, or a word beside one, or write
 * it as Markdown or HTML, or by a keyboard of full width. Whoever is known by any of them is known
 * by the text. At most nine.
 */
export function addressesIn(text: string): string[] {
  if (!isEmailLength(text)) return [text];
  const found = withoutMarkup(withoutInvisible(text)).match(SEPARATE_ADDRESS) ?? [];
  const others = found.map(normalizeEmail).filter((address) => address !== normalizeEmail(text));
  return [text, ...[...new Set(others)].slice(0, ADDRESSES_MAX)];
}

const FULL_WIDTH = /[\uff01-\uff5e]/g;
const FULL_WIDTH_OFFSET = 0xfee0;
const HTML_REFERENCE = /&(?:#(\d{2,3})|#x([\da-f]{2})|(commat|period|lowbar|amp));/gi;
const HTML_NAMES: Readonly<Record<string, string>> = {
  commat: '@',
  period: '.',
  lowbar: '_',
  amp: '&',
};
/** @see CommonMark 0.31.2 section 2.4 */
const MARKDOWN_ESCAPE = /\\([!-/:-@[-`{-~])/g;
/**
 * Signs of emphasis and code before words, which stand behind them, too: those that nothing closes are
 * seen by readers, and an address may begin with them (RFC 5322 section 3.2.3).
 */
const MARKDOWN_OPENING = /(?<=^|[\s(])([`*~]+)(?=\S.*\S\1\.?(?:$|[\s),;]))/g;
/** Such signs behind a domain, which never ends with one. */
const MARKDOWN_CLOSING = /(@[^\s@]*?)[`*~_]+(?=\.?(?:$|[\s),;]))/g;

/** What a reader of the page sees. */
function withoutMarkup(text: string): string {
  return text
    .replace(FULL_WIDTH, (sign) => String.fromCharCode(sign.charCodeAt(0) - FULL_WIDTH_OFFSET))
    .replace(HTML_REFERENCE, (_all, decimal?: string, hex?: string, name?: string) =>
      name === undefined
        ? String.fromCharCode(decimal === undefined ? parseInt(hex ?? '', 16) : Number(decimal))
        : (HTML_NAMES[name.toLowerCase()] ?? ''),
    )
    .replace(MARKDOWN_OPENING, '')
    .replace(MARKDOWN_CLOSING, '$1')
    .replace(MARKDOWN_ESCAPE, '$1');
}

/** What is no domain name stays apart: a URL's host ends at a slash, and `127.1` is `127.0.0.1`. */
function normalizeDomain(domain: string): string {
  const isName = !IS_ASCII.test(domain) && !NOT_IN_DOMAINS.test(domain);
  return (isName && domainToASCII(domain)) || domain.toLowerCase();
}

/** A lead's number, with or without `#` and blanks; undefined for what names none. */
export function parseLeadId(text: string): number | undefined {
  if (text.length > LEAD_ID_CHARACTERS_MAX) return undefined;
  const digits = LEAD_ID.exec(withoutInvisible(text).trim())?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** An identity's value in the form in which it is compared. */
export function normalizeIdentity({ kind, value }: LeadIdentity): string {
  return kind === 'email' ? normalizeEmail(value) : withoutInvisible(value).trim();
}

function withoutInvisible(text: string): string {
  return text.replace(INVISIBLE, '');
}

/** A sigma at the end of a word has a small letter of its own. */
function foldCase(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}

/** The small parts that others are made of. Every text is escaped; addresses are looked at. */
import { html, type Html, type HtmlValue, safeHref } from '../html.ts';

/** What a colour and its shape mean; see the sheet. */
export type State = 'ok' | 'wait' | 'warn' | 'bad' | 'odd' | 'mute';

/** A state by shape and word; with `fill`, in headers, also by its tint. */
export function badge(state: State, word: HtmlValue, { fill = false } = {}): Html {
  return html`<span class="badge${fill && ' fill'}" data-s="${state}">${word}</span>`;
}

/** How something is, by its shape and its word. */
export type BadgeWords = { state: State; words: string };

/** The badge of such words. */
export const badgeOf = ({ state, words }: BadgeWords, look: { fill?: boolean } = {}): Html =>
  badge(state, words, look);

/** A label or another word that is data. */
export function tag(word: HtmlValue): Html {
  return html`<span class="tag">${word}</span>`;
}

/** Fine print, below or beside what it explains. */
export function note(...content: HtmlValue[]): Html {
  return html`<span class="note">${content}</span>`;
}

/** Text for screen readers only. */
export function hidden(text: string): Html {
  return html`<span class="vh">${text}</span>`;
}

/** An id, a name of a field, a code. `wbr` lets long ones break after dots and slashes. */
export function code(text: string): Html {
  const pieces = text.split(/(?<=[./])/);
  return html`<code>${pieces.map((piece, at) => html`${at > 0 && html`<wbr />`}${piece}`)}</code>`;
}

/** Where something is in a document, by its JSON Pointer: `paths › /leads/{id} › get`. */
export function place(pointer: string): Html {
  const parts = pointer.split('/').slice(1).map(unescapePart);
  const text = cut(parts.join(' › ') || 'the document', PLACE_LENGTH_MAX);
  return html`<code class="place">${text}</code>`;
}

const PLACE_LENGTH_MAX = 160;

/** RFC 6901: first the percent signs of the fragment form, then its own escapes. */
function unescapePart(part: string): string {
  const text = /%[0-9a-f]{2}/i.test(part) ? decoded(part) : part;
  return text.replaceAll('~1', '/').replaceAll('~0', '~');
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** What somebody wrote as a note, as a sentence. */
export function sentence(text: string): Html {
  const line = cut(text);
  const end = /[.?!…]$/.test(line) ? '' : '.';
  return foreign(`${line.charAt(0).toUpperCase()}${line.slice(1)}${end}`);
}

/** The end of an id, by which it is told from its neighbours: they begin alike. All of it on hover. */
export function shortId(id: string): Html {
  return html`<code title="${id}">${id.slice(-8)}</code>`;
}

type LinkLook = {
  /** Said after the text to screen readers, so that two links `Open` differ. */
  more?: string;
  look?: 'button' | 'primary' | 'small';
  download?: boolean;
  /** In a tab of its own, so that what was typed in this one stays. */
  opensTab?: boolean;
};

const LOOKS = { button: 'btn', primary: 'btn primary', small: 'btn small' } as const;

/**
 * A link, by itself or in the look of a button. `href` is http, https or a path of ours; for anything else the text
 * stands without a link.
 */
export function link(
  href: string,
  text: HtmlValue,
  { more, look, download, opensTab }: LinkLook = {},
): Html {
  const safe = safeHref(href);
  const label = html`${text}${more !== undefined && hidden(` ${more}`)}`;
  if (safe === undefined) return label;
  const target = opensTab === true ? '_blank' : undefined;
  const names = attributes({ class: look && LOOKS[look], href: safe, download, target });
  return html`<a${names}>${label}</a>`;
}

/**
 * Attributes for a tag, each preceded by a space; those that are undefined or false are left out,
 * true ones stand without a value. Names are ours, values anybody's.
 */
export function attributes(
  values: Readonly<Record<string, string | number | boolean | undefined>>,
): Html {
  const given = Object.entries(values).filter(
    ([, value]) => value !== undefined && value !== false,
  );
  return html`${given.map(([name, value]) => (value === true ? html` ${name}` : html` ${name}="${value}"`))}`;
}

const TEXT_LENGTH_MAX = 200;

/**
 * Text that a partner, the tracker or a person at the issuer wrote: cut, isolated from the direction of
 * the text around it, and without control characters, line ends become spaces.
 */
export function foreign(text: string, lengthMax = TEXT_LENGTH_MAX): Html {
  return html`<bdi>${cut(text, lengthMax)}</bdi>`;
}

/** The same as text, for attributes and titles; nothing in it turns the direction of what follows. */
export function cut(text: string, lengthMax = TEXT_LENGTH_MAX): string {
  const start = text.slice(0, lengthMax).replace(/[\uD800-\uDBFF]$/, '');
  const line = start.replaceAll(/[\p{Cc}\u2028-\u202E\u2066-\u2069]+/gu, ' ').trim();
  return text.length <= lengthMax ? line : `${line}…`;
}

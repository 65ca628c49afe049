/** The small parts that others are made of, and framed texts. Every text is escaped; addresses are looked at. */
import type { Standing, Urgency } from '#shared/outcomes/entry.ts';
import { unescapeFragment } from '#shared/text/json.ts';
import { html, type Html, type HtmlValue, safeHref } from '../html.ts';

/** Colour and shape; see the sheet. */
export type State = Urgency;

/** A state by shape and word; with `fill`, in headers, also by its tint. */
export function badge(state: State, word: HtmlValue, { fill = false } = {}): Html {
  return html`<span class="badge${fill && ' fill'}" data-s="${state}">${word}</span>`;
}

export const badgeOf = ({ urgency, title }: Standing, look: { fill?: boolean } = {}): Html =>
  badge(urgency, title, look);

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

/** Code with a button that copies it, which the page's script shows. `id`: unique on the page; `what`: for screen readers. */
export function copyable(id: string, text: string, what: string): Html {
  return html`<span id="${id}">${code(text)}</span>
    <button class="btn small" type="button" data-copy="${id}" hidden>
      Copy${hidden(` address of ${what}`)}
    </button>`;
}

/** Place in a document, by its JSON Pointer: `paths › /leads/{id} › get`. */
export function place(pointer: string): Html {
  const parts = pointer.split('/').slice(1).map(unescapeFragment);
  const text = cut(parts.join(' › ') || 'the document', PLACE_LENGTH_MAX);
  return html`<code class="place">${text}</code>`;
}

const PLACE_LENGTH_MAX = 160;

/** Somebody's note as a sentence. */
export function sentence(text: string): Html {
  const line = cut(text);
  const end = /[.?!…]$/.test(line) ? '' : '.';
  return foreign(`${line.charAt(0).toUpperCase()}${line.slice(1)}${end}`);
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

/** Foreign text for attributes and titles; nothing in it turns the direction of what follows. */
export function cut(text: string, lengthMax = TEXT_LENGTH_MAX): string {
  const start = text.slice(0, lengthMax).replace(/[\uD800-\uDBFF]$/, '');
  const line = start.replaceAll(/[\p{Cc}\u2028-\u202E\u2066-\u2069]+/gu, ' ').trim();
  return text.length <= lengthMax ? line : `${line}…`;
}

/** A block of code, a command, a document. `label` says what it is; it scrolls within itself. */
export function codeBlock(text: string, label: string): Html {
  return html`<pre class="code" tabindex="0" role="region" aria-label="${label}">${text}</pre>`;
}

/** Something that opens; it works without script. */
export function details(summary: HtmlValue, ...content: HtmlValue[]): Html {
  return html`<details>
    <summary>${summary}</summary>
    ${content}
  </details>`;
}

export type Moment = {
  state: State;
  heading: HtmlValue;
  /** By `time`. */
  at?: Html;
  content?: HtmlValue;
};

/** List of moments, oldest first; `label` names it. */
export function timeline(label: string, moments: readonly Moment[]): Html {
  return html`<ol class="timeline" aria-label="${label}">
    ${moments.map(moment)}
  </ol>`;
}

function moment({ state, heading, at, content }: Moment): Html {
  return html`<li data-s="${state}">
    <header>
      <h3>${heading}</h3>
      ${at}
    </header>
    ${content}
  </li>`;
}

const LINES_MAX = 60;
const CHARACTERS_MAX = 6_000;

/** A text, a sign, or what stands between them. The last text may lack its end. */
const TOKENS = /"(?:[^"\\]|\\.)*"?|[{}[\],:]|[^"{}[\],:]+/g;

/**
 * The start of compact JSON, one member or element a line: at most 60 lines. No more is looked at than is shown,
 * whatever the length of the text.
 */
export function excerptOf(json: string): { text: string; isCut: boolean } {
  const start = json.slice(0, CHARACTERS_MAX);
  const lines = [''];
  let depth = 0;
  let before = '';
  for (const [token] of start.matchAll(TOKENS)) {
    if (lines.length > LINES_MAX) break;
    if (isClosing(token)) depth -= 1;
    if (startsLine(token, before)) lines.push('  '.repeat(depth));
    lines[lines.length - 1] += token === ':' ? ': ' : token;
    if (isOpening(token)) depth += 1;
    before = token;
  }
  const text = lines.slice(0, LINES_MAX).join('\n');
  return { text, isCut: lines.length > LINES_MAX || start.length < json.length };
}

const isOpening = (token: string): boolean => token === '{' || token === '[';
const isClosing = (token: string): boolean => token === '}' || token === ']';

/** Keeps something empty on its line. */
function startsLine(token: string, before: string): boolean {
  return isClosing(token) ? !isOpening(before) : isOpening(before) || before === ',';
}

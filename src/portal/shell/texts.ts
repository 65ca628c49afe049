/** Text in a frame: code, and what happened one after the other. */
import { html, type Html, type HtmlValue } from '../html.ts';
import type { State } from './parts.ts';

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

/** What happened, oldest first. `label` names the list. */
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

/** What is empty stays on its line. */
function startsLine(token: string, before: string): boolean {
  return isClosing(token) ? !isOpening(before) : isOpening(before) || before === ',';
}

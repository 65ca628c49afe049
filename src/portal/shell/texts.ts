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

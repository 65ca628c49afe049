/** Boxes and what stands in them, and notices: a verdict, what was done. */
import { html, type Html, type HtmlValue } from '../html.ts';
import { cut, type State } from './elements.ts';

export type CardHead = {
  /** Unique on the page; the heading's id. */
  id: string;
  heading: HtmlValue;
  /** At the right of the heading: a link, a badge. */
  aside?: HtmlValue;
  /** `article` for one of several like it, such as an event of a receipt. */
  element?: 'section' | 'article';
};

/** A box with a heading. A table stands in it as it is, everything else in a `body`. */
export function card(
  { id, heading, aside, element = 'section' }: CardHead,
  ...content: HtmlValue[]
): Html {
  const inside = html`<header>
      <h2 id="${id}">${heading}</h2>
      ${aside}
    </header>
    ${content}`;
  return element === 'section'
    ? html`<section class="card" aria-labelledby="${id}">${inside}</section>`
    : html`<article class="card" aria-labelledby="${id}">${inside}</article>`;
}

/** A box without a heading, for a list with its filters. */
export function plainCard(...content: HtmlValue[]): Html {
  return html`<div class="card">${content}</div>`;
}

/** The padded part of a card. */
export function body(...content: HtmlValue[]): Html {
  return html`<div class="body">${content}</div>`;
}

export type Fact = readonly [term: HtmlValue, value: HtmlValue];

/** Terms with their values; those whose value is undefined are left out. `across`: side by side. */
export function facts(list: readonly Fact[], { across = false } = {}): Html {
  const rows = list.filter(([, value]) => value !== undefined);
  return html`<dl class="facts${across && ' across'}">
    ${rows.map(
      ([term, value]) =>
        html`<div>
          <dt>${term}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}

export type Stat = {
  term: string;
  value: HtmlValue;
  /** Beside the value, smaller. */
  unit?: string;
  note?: HtmlValue;
  /** Colours the value: only where it needs somebody. */
  state?: State;
};

/** A few numbers that count, large. */
export function stats(list: readonly Stat[]): Html {
  return html`<dl class="stats">${list.map(stat)}</dl>`;
}

function stat({ term, value, unit, note, state }: Stat): Html {
  const large = html`<dd>${value}${unit !== undefined && html` <small>${unit}</small>`}</dd>`;
  const below = note !== undefined && html`<dd class="note">${note}</dd>`;
  const inside = html`<dt>${term}</dt>
    ${large}${below}`;
  return state === undefined
    ? html`<div>${inside}</div>`
    : html`<div data-s="${state}">${inside}</div>`;
}

/** Columns: the main one, and from 1,152 pixels a narrow one beside it. */
export function split(main: HtmlValue, beside: HtmlValue): Html {
  return html`<div class="split">${stack(main)}${stack(beside)}</div>`;
}

/** One below the other with the distance of cards. */
export function stack(...content: HtmlValue[]): Html {
  return html`<div class="stack">${content}</div>`;
}

/** Side by side where there is room. */
export function pair(...content: HtmlValue[]): Html {
  return html`<div class="pair">${content}</div>`;
}

/** In one line, wrapping. */
export function row(...content: HtmlValue[]): Html {
  return html`<div class="row">${content}</div>`;
}

/** Points, one below the other. */
export function list(...items: HtmlValue[]): Html {
  return html`<ul class="list">
    ${items.map((item) => html`<li>${item}</li>`)}
  </ul>`;
}

export type EmptyCard = {
  id: string;
  heading: string;
  /** Says what belongs here. */
  text: HtmlValue;
  /** Below the text: facts, code. */
  content?: HtmlValue;
  /** The one thing to do next: links or a form. */
  next?: HtmlValue;
};

/** In the place of a list that is empty. Stands in a card: `inCard: false` when it already does. */
export function empty(
  { id, heading, text, content, next }: EmptyCard,
  { inCard = false } = {},
): Html {
  const inside = body(
    html`<h2 id="${id}">${heading}</h2>`,
    html`<p>${text}</p>`,
    content,
    next !== undefined && row(next),
  );
  return inCard ? inside : html`<section class="card" aria-labelledby="${id}">${inside}</section>`;
}

type Notice = {
  state: State;
  /** Unique on the page. */
  id: string;
  heading: HtmlValue;
  text?: HtmlValue;
  /** The next step, at the right where there is room: links in the look of buttons, forms. */
  actions?: HtmlValue;
};

/** A verdict with its next step. */
export function notice({ state, id, heading, text, actions }: Notice): Html {
  const acts = actions !== undefined;
  return html`<section class="notice${acts && ' act'}" data-s="${state}" aria-labelledby="${id}">
    <h2 id="${id}">${heading}</h2>
    ${text !== undefined && html`<p>${text}</p>`} ${acts && row(actions)}
  </section>`;
}

/** A smaller one, within a card: a strong line and what explains it. */
export function remark(state: State, heading: HtmlValue, text?: HtmlValue): Html {
  return html`<section class="notice" data-s="${state}">
    <strong>${heading}</strong>
    ${text !== undefined && html`<div>${text}</div>`}
  </section>`;
}

/** Result of the last action, or why it did nothing: once, after the redirect. */
export function doneNotice(text: string, { isUndone = false }: { isUndone?: boolean } = {}): Html {
  const state = isUndone ? 'warn' : 'ok';
  return html`<div class="notice" data-s="${state}" role="status">
    <strong>${cut(text)}</strong>
  </div>`;
}

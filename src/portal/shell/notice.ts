/** First words of a page: a verdict, what was done, what is wrong. */
import { html, type Html, type HtmlValue } from '../html.ts';
import { list, row } from './card.ts';
import { type State, cut } from './elements.ts';
import { count } from './times.ts';
import type { FieldProblem } from '#shared/errors.ts';

export type Notice = {
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

export type ErrorSummary = {
  /** Says that nothing happened, such as `Not created`. */
  heading: string;
  problems: readonly FieldProblem[];
  /** Names of the fields as their labels say them, by the name in the form. */
  labels?: Readonly<Record<string, string>>;
};

/** Of a thousand members each may be wrong. */
const PROBLEMS_SHOWN = 12;
const PROBLEMS_OF_FIELD_SHOWN = 4;

/** Above a form that came back: links to each field. The page's title gets `Error: ` before it. */
export function errorSummary({ heading, problems, labels = {} }: ErrorSummary): Html {
  const lines = problems.slice(0, PROBLEMS_SHOWN).map((problem) => summaryLine(problem, labels));
  const rest = problems.length - lines.length;
  return html`<section
    class="notice"
    data-s="bad"
    role="alert"
    tabindex="-1"
    autofocus
    aria-labelledby="error-summary"
  >
    <h2 id="error-summary">${heading}</h2>
    ${list(...lines, ...(rest > 0 ? [`${count(rest)} more.`] : []))}
  </section>`;
}

function summaryLine(problem: FieldProblem, labels: Readonly<Record<string, string>>): Html {
  const name = fieldOf(problem);
  const text = cut(problem.detail);
  if (name === undefined) return html`${text}`;
  const label = Object.hasOwn(labels, name) ? labels[name] : undefined;
  return html`<a href="#${name}">${label !== undefined && `${label}: `}${text}</a>`;
}

/** The field of a form that a problem is about: the first part of its pointer. */
function fieldOf({ pointer, parameter }: FieldProblem): string | undefined {
  return pointer?.split('/')[1] ?? parameter;
}

/** Problems of a field, for its `error`. */
export function problemOf(problems: readonly FieldProblem[], name: string): string | undefined {
  const own = problems.filter((problem) => fieldOf(problem) === name);
  if (own.length === 0) return undefined;
  const rest = own.length - PROBLEMS_OF_FIELD_SHOWN;
  const shown = own.slice(0, PROBLEMS_OF_FIELD_SHOWN).map(({ detail }) => cut(detail));
  return [...shown, ...(rest > 0 ? [`${count(rest)} more.`] : [])].join(' ');
}

/** Forms, and the filters of a list. */
import type { PortalPerson } from '../page.ts';
import { html, type Html, type HtmlValue } from '../html.ts';
import { hidden, link } from './parts.ts';

export type PostFormFacts = {
  /** Path of the action. */
  action: string;
  person: Pick<PortalPerson, 'formToken' | 'formId'>;
  /** For actions that are `doneOnce`. */
  isDoneOnce?: boolean;
  /** Values that nobody types. */
  values?: Readonly<Record<string, string>>;
  /** `form`: fields below each other, `body`: the same within a card, `plain`: buttons in a row. */
  look?: 'form' | 'body' | 'plain';
};

/** A form that changes something. It carries the session's token; the server says what is wrong. */
export function postForm(given: PostFormFacts, ...content: HtmlValue[]): Html {
  const { action, person, values = {}, look = 'form' } = given;
  const id = given.isDoneOnce === true && { formId: person.formId };
  const all = Object.entries({ formToken: person.formToken, ...id, ...values });
  const inside = html`${all.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}${content}`;
  if (look === 'plain') return html`<form method="post" action="${action}">${inside}</form>`;
  return html`<form class="${look}" method="post" action="${action}" novalidate>${inside}</form>`;
}

export type ButtonFacts = {
  look?: 'button' | 'primary' | 'danger' | 'small';
  /** Said after the text to screen readers. */
  more?: string;
};

const BUTTONS = {
  button: 'btn',
  primary: 'btn primary',
  danger: 'btn danger',
  small: 'btn small',
} as const;

/** Sends its form. `danger` only on a page that confirms. */
export function button(text: string, { look = 'button', more }: ButtonFacts = {}): Html {
  return html`<button class="${BUTTONS[look]}">
    ${text}${more !== undefined && hidden(` ${more}`)}
  </button>`;
}

export type ActionButtonFacts = Omit<PostFormFacts, 'look'> & ButtonFacts & { text: string };

/** A form of one button, for what can be undone. */
export function actionButton({ text, action, person, values, ...look }: ActionButtonFacts): Html {
  const form = { action, person, look: 'plain' as const };
  return postForm(values === undefined ? form : { ...form, values }, button(text, look));
}

export type FiltersFacts = {
  /** Path of the list. */
  action: string;
  /** What is filtered, such as `Filter receipts`. */
  label: string;
  /** The fields, made by `input` and `select`. */
  fields: readonly Html[];
  submit?: string;
};

/** Filters as a GET form, so that the address can be sent to a colleague. */
export function filters({ action, label, fields, submit = 'Filter' }: FiltersFacts): Html {
  return html`<details class="fold" open>
    <summary>${submit}</summary>
    <form class="filters" role="search" aria-label="${label}" method="get" action="${action}">
      ${fields}<button class="btn">${submit}</button>
    </form>
  </details>`;
}

/** A filter that takes the room that is left. */
export function wide(field: Html): Html {
  return html`<div class="grow">${field}</div>`;
}

/** A filter in force with the address without it, or one that is often wanted with the address with it. */
export type Chip = { label: string; href: string };

/** Below the filters: what is in force. Nothing at all without chips and suggestions. */
export function chips(inForce: readonly Chip[], suggestions: readonly Chip[] = []): Html {
  if (inForce.length + suggestions.length === 0) return html``;
  return html`<div class="row chips" role="group" aria-label="Filters in force">
    ${inForce.length > 0 && html`<span class="note">Showing</span>`}
    ${inForce.map(({ label, href }) => html`<a class="chip" href="${href}">${hidden('Remove filter: ')}${label}</a> `)}
    ${suggestions.map(({ label, href }) => html`${link(href, label)} `)}
  </div>`;
}

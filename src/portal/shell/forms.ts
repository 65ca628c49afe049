/**
 * Forms with their fields, and the filters of a list. A field's id is its name unless `id` is given; its error and its
 * note are tied to it.
 */
import type { FieldProblem } from '#shared/errors.ts';
import type { PortalPerson, TypedFields } from '../page.ts';
import { html, type Html, type HtmlValue, textAreaText } from '../html.ts';
import { attributes, cut, hidden, link } from './elements.ts';
import { list } from './card.ts';
import { count } from './times.ts';

/** The hidden field by which a form is known to be of its session. */
export const FORM_TOKEN_FIELD = 'formToken';
/** The hidden field by which a form that is sent twice is known again. */
export const FORM_ID_FIELD = 'formId';

export type PostForm = {
  /** Path of the action. */
  action: string;
  person: Pick<PortalPerson, 'formToken' | 'formId'>;
  /** Values that nobody types. */
  values?: Readonly<Record<string, string>>;
  /** `form`: fields below each other, `body`: the same within a card, `plain`: buttons in a row. */
  look?: 'form' | 'body' | 'plain';
};

/** A value that nobody types. */
export const hiddenField = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}" />`;

/** A form that changes something. It carries the session's token; the server says what is wrong. */
export function postForm(given: PostForm, ...content: HtmlValue[]): Html {
  const { action, person, values = {}, look = 'form' } = given;
  const own = { [FORM_TOKEN_FIELD]: person.formToken, [FORM_ID_FIELD]: person.formId };
  const all = Object.entries({ ...own, ...values });
  const inside = html`${all.map(([name, value]) => hiddenField(name, value))}${content}`;
  if (look === 'plain') return html`<form method="post" action="${action}">${inside}</form>`;
  return html`<form class="${look}" method="post" action="${action}" novalidate>${inside}</form>`;
}

type Button = {
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
export function button(text: string, { look = 'button', more }: Button = {}): Html {
  return html`<button class="${BUTTONS[look]}">
    ${text}${more !== undefined && hidden(` ${more}`)}
  </button>`;
}

type ActionButton = Omit<PostForm, 'look'> & Button & { text: string };

/** A form of one button, for what can be undone. */
export function actionButton({ text, action, person, values, ...look }: ActionButton): Html {
  return postForm({ action, person, values, look: 'plain' }, button(text, look));
}

type FilterForm = {
  /** Path of the list. */
  action: string;
  /** Names the filters, such as `Filter receipts`. */
  label: string;
  /** The fields, made by `input` and `select`. */
  fields: readonly Html[];
  submit?: string;
};

/** Filters as a GET form, so that the address can be sent to a colleague. */
export function filters({ action, label, fields, submit = 'Filter' }: FilterForm): Html {
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

/** Parts of every field. */
type Field = {
  name: string;
  label: HtmlValue;
  /** Unique on the page; by default the name. */
  id?: string;
  note?: HtmlValue;
  /** Said below it. */
  error?: string;
};

/** A form that came back, with what is wrong with it; both are empty when its page is opened. */
export type HeldForm = {
  /** Filled in again. Never put a secret back into it. */
  typed: TypedFields;
  problems: readonly FieldProblem[];
};

/** A field of a form that came back: its value, `otherwise` where nothing was typed, and its problem. */
export function held(name: string, { typed, problems }: HeldForm, otherwise?: string) {
  const { [name]: value } = typed;
  const error = problemOf(problems, name);
  return { name, value: typeof value === 'string' ? value : otherwise, error };
}

export type InputField = Field & {
  type?: 'text' | 'search' | 'number' | 'date' | 'datetime-local';
  value?: string | number;
  required?: boolean;
  min?: string | number;
  placeholder?: string;
  /** In characters; by default as wide as there is room. */
  size?: number;
};

/** A line to type in. Browsers complete nothing: it is never about the person who types. */
export function input(given: InputField): Html {
  const { type = 'text', value, required, min, placeholder, size } = given;
  const names = attributes({
    ...tied(given),
    type,
    value,
    required,
    min,
    placeholder,
    size,
    inputmode: type === 'number' ? 'numeric' : undefined,
    autocomplete: 'off',
    spellcheck: 'false',
  });
  return field(given, html`<input${names} />`);
}

type TextArea = Field & {
  value?: string;
  rows?: number;
  /** Code: in letters of one width. */
  isCode?: boolean;
};

/** Several lines to type in. A line end at the start of the value stays. */
export function textArea(given: TextArea): Html {
  const { value = '', rows = 12 } = given;
  const names = attributes({
    ...tied(given),
    class: given.isCode === true ? 'mono' : undefined,
    rows,
    spellcheck: 'false',
  });
  // HTML drops one line end after the tag: one of ours.
  return field(
    given,
    html`<textarea${names}>
${textAreaText(value)}</textarea>`,
  );
}

export type Choice = { value: string; label: HtmlValue };

/** Words to choose from; `labels` says how each reads. */
export function choicesOf(
  values: readonly string[],
  labels: Readonly<Record<string, { title: string }>> = {},
): Choice[] {
  return values.map((value) => ({ value, label: labels[value]?.title ?? value }));
}

type Select = Field & { value?: string; choices: readonly Choice[] };

/** One of several. For `no filter` put a choice with an empty value first. */
export function select(given: Select): Html {
  const options = given.choices.map(({ value, label }) => {
    const names = attributes({ value, selected: value === given.value });
    return html`<option${names}>${label}</option>`;
  });
  return field(given, html`<select${attributes(tied(given))}>${options}</select>`);
}

type Checks = Field & {
  kind: 'radio' | 'checkbox';
  choices: readonly Choice[];
  chosen: readonly string[];
};

/** A group of boxes or radio buttons; the label is its legend. A summary's link leads to the first. */
export function checks(given: Checks): Html {
  const { name, label, kind, choices, chosen } = given;
  const { id = name } = given;
  const boxes = choices.map(({ value, label }, at) => {
    const checked = chosen.includes(value);
    const invalid = given.error === undefined ? undefined : 'true';
    const names = attributes({
      type: kind,
      id: at === 0 ? id : undefined,
      name,
      value,
      checked,
      'aria-invalid': kind === 'checkbox' ? invalid : undefined,
    });
    return html`<label class="check"><input${names} /> ${label}</label>`;
  });
  const described = attributes({ 'aria-describedby': describedBy(given) });
  return html`<fieldset${described} class="field">
    <legend>${label}</legend>
    <div class="checks">${boxes}</div>
    ${explained(given)}
  </fieldset>`;
}

/** One box that stands alone; ticked where it came back so. */
export function check(facts: Field & { value: string }, form: HeldForm): Html {
  const { value, error } = held(facts.name, form);
  const given = { ...facts, error };
  const checked = value === given.value;
  const names = attributes({ ...tied(given), type: 'checkbox', value: given.value, checked });
  return html`<div class="field">
    <label class="check"><input${names} /> ${given.label}</label>${explained(given)}
  </div>`;
}

function field(given: Field, control: Html): Html {
  const { name, id = name, label } = given;
  return html`<div class="field">
    <label for="${id}">${label}</label>${control}${explained(given)}
  </div>`;
}

function explained({ name, id = name, note, error }: Field): Html {
  return html`${error !== undefined && html`<p class="error" id="${id}-error">${error}</p>`}${
    note !== undefined && html`<p class="note" id="${id}-note">${note}</p>`
  }`;
}

function tied(given: Field): Record<string, string | undefined> {
  const { name, id = name, error } = given;
  return {
    id,
    name,
    'aria-invalid': error === undefined ? undefined : 'true',
    'aria-describedby': describedBy(given),
  };
}

function describedBy({ name, id = name, note, error }: Field): string | undefined {
  const ids = [error !== undefined && `${id}-error`, note !== undefined && `${id}-note`];
  return ids.filter((part) => part !== false).join(' ') || undefined;
}

type ErrorSummary = {
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

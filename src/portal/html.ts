/**
 * HTML as tagged templates that escape what is put into them, text and attribute values alike. They
 * come from `hono/html`; of Hono nothing else is loaded. A value that already is `Html` is put in as it
 * stands, an array piece by piece; `undefined`, `null` and booleans leave nothing behind.
 */
import { html as template, raw } from 'hono/html';

/** Markup whose parts are escaped. */
export type Html = { readonly isEscaped: true; toString(): string };

/** Values of a template. Attribute values must be quoted in the template. */
export type HtmlValue = Html | string | number | boolean | null | undefined | readonly HtmlValue[];

/** Escapes its values. It never gets a promise, so it never makes one. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return template(withoutIndentation(strings), ...values) as Html;
}

const lean = new WeakMap<TemplateStringsArray, TemplateStringsArray>();

/** Indentation of our source would be a third of a page. Values stay as they are. */
function withoutIndentation(strings: TemplateStringsArray): TemplateStringsArray {
  const known = lean.get(strings);
  if (known) return known;
  const pieces = strings.map((piece) => piece.replaceAll(/\n[ \t]+/g, '\n'));
  const made = Object.assign(pieces, { raw: pieces });
  lean.set(strings, made);
  return made;
}

/**
 * Text within a `textarea`, where nothing but `&` and `<` means anything. Every quotation mark of a spec of megabytes, escaped
 * as elsewhere, would hold up the event loop.
 */
export function textAreaText(text: string): Html {
  return raw(text.split('&').join('&amp;').split('<').join('&lt;'));
}

const SAFE_SCHEME = /^https?:\/\//i;

/**
 * An address for `href`: http, https, a path of this service, or a place of the page; anything else, such
 * as `javascript:`, is undefined, so that the caller shows plain text. No template engine looks at schemes.
 */
export function safeHref(address: string): string | undefined {
  if (SAFE_SCHEME.test(address)) return address;
  return /^(?:\/(?![/\\])|#)/.test(address) ? address : undefined;
}

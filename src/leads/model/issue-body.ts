/**
 * Reads the body of an issue form, which people edit. A form's values are Markdown, and visitors
 * type Markdown too, so a Markdown parser would believe them; here places count. Fields before the
 * multi-line one are searched forward, by their headings, so that notes may stand before and between
 * them. Those behind it are the last place where all of them stand together: what a visitor types
 * into the multi-line field can only come before it, and what a person adds behind it is a note.
 */
import { memoize } from '#shared/caching.ts';
import { withoutInvisible } from '#shared/text/visible.ts';

/** Values by field name; a field without a value is absent. */
export type FormValues = Readonly<Record<string, string>>;

/** Leaves of a line of the body what a reader may see. */
type LineFilter = (line: string) => string;

const NO_RESPONSE = '_No response_';

/** The lines of a body that are not blank. */
type Lines = {
  /** Every line, as typed. */
  typed: readonly string[];
  /** Places of those that are not blank, ascending. */
  numbers: readonly number[];
  /** For each of those, the place in the form of the field whose heading it equals, or −1. */
  fields: readonly number[];
};

/** A field's value: the line that is not blank and stands at this place among those. */
type Value = { field: number; at: number };

/** Position of the fields behind the multi-line one, among the lines that are not blank. */
type Tail = { start: number; end: number; values: readonly Value[] };

/** Linear in the length of the body. CRLF, LF and trailing spaces are alike. */
export function readForm(
  body: string,
  form: FormLayout,
  shown: LineFilter = (line) => line,
): FormValues {
  const lines = readLines(body, form);
  const multiline = form.findIndex((field) => field.multiline);
  const head = readHead(lines, multiline === -1 ? form.length : multiline);
  const values = new Map<string, string>();
  const keep = (field: number, text: string): void => {
    const name = form[field]?.name;
    const value = text.trim();
    if (name !== undefined && value !== '' && value !== NO_RESPONSE) values.set(name, value);
  };
  const keepLines = (found: readonly Value[]): void => {
    for (const { field, at } of found)
      keep(field, shown(lines.typed[lines.numbers[at] ?? -1] ?? ''));
  };
  keepLines(head.values);
  if (multiline !== -1) {
    const headingAt = lines.fields.indexOf(multiline, head.end);
    const tail = findTail(lines, {
      fields: { first: multiline + 1, count: form.length },
      floor: headingAt === -1 ? head.end : headingAt + 1,
    });
    if (headingAt !== -1)
      keep(multiline, textBetween(lines, { from: headingAt + 1, to: tail.start }, shown));
    keepLines(tail.values);
  }
  return Object.fromEntries(values);
}

function readLines(body: string, form: FormLayout): Lines {
  const findHeading = headingFinder(form);
  const typed = body.split(/\r\n|\n|\r/);
  const numbers: number[] = [];
  const fields: number[] = [];
  for (const [number, line] of typed.entries())
    if (line.trim() !== '') {
      numbers.push(number);
      fields.push(findHeading(line));
    }
  return { typed, numbers, fields };
}

/** Reads the fields before `count`; `end` is the line behind them. */
function readHead(lines: Lines, count: number): { values: Value[]; end: number } {
  const values: Value[] = [];
  let end = 0;
  for (let field = 0; field < count; field += 1) {
    const headingAt = findHeading(lines, { field, last: count }, end);
    if (headingAt === undefined) continue;
    const valueAt = headingAt + 1;
    const isEmpty = isNext(lines, valueAt, field) && !isRepeated(lines, { valueAt, field, count });
    const hasValue = valueAt < lines.fields.length && !isEmpty;
    if (hasValue) values.push({ field, at: valueAt });
    end = valueAt + (hasValue ? 1 : 0);
  }
  return { values, end };
}

/** The first heading of the field from `start` on; the search ends at that of a later one up to `last`. */
function findHeading(
  { fields }: Lines,
  { field, last }: { field: number; last: number },
  start: number,
): number | undefined {
  for (let at = start; at < fields.length; at += 1) {
    const found = fields[at] ?? -1;
    if (found === field) return at;
    if (found > field && found <= last) return undefined;
  }
  return undefined;
}

/**
 * True when the line below a heading is the heading of the next field, and this one empty. A heading
 * that stands twice is, the first time, what somebody typed as the value.
 */
function isNext({ fields }: Lines, at: number, field: number): boolean {
  return fields[at] === field + 1 && fields[at + 1] !== field + 1;
}

/** True where a person's note parts the two; but a multi-line value may well hold its heading. */
function isRepeated(
  lines: Lines,
  { valueAt, field, count }: { valueAt: number; field: number; count: number },
): boolean {
  const next = { field: field + 1, last: count };
  return next.field < count && findHeading(lines, next, valueAt + 1) !== undefined;
}

/**
 * The last place from `floor` on where all fields from `first` to before `count` stand. Where a
 * heading of the last one follows it the true tail is broken by a note, and what was found is a
 * visitor's lookalike: then none of these fields has a value.
 */
function findTail(
  lines: Lines,
  { fields: { first, count }, floor }: { fields: { first: number; count: number }; floor: number },
): Tail {
  const none: Tail = { start: lines.fields.length, end: lines.fields.length, values: [] };
  if (first === count) return none;
  const lastHeadingAt = lines.fields.lastIndexOf(count - 1);
  for (let start = lastHeadingAt; start >= floor; start -= 1) {
    const found = readTail(lines, { first, count }, start);
    if (!found) continue;
    // A first heading that stands twice is, the second time, what somebody typed as its value.
    const before =
      start > floor && found.values.length < count - first
        ? readTail(lines, { first, count }, start - 1)
        : undefined;
    const tail = before && before.values.length > found.values.length ? before : found;
    return tail.end > lastHeadingAt ? tail : none;
  }
  return none;
}

/** The fields from `first` to before `count`, when the headings of all stand from `start` on. */
function readTail(
  lines: Lines,
  { first, count }: { first: number; count: number },
  start: number,
): Tail | undefined {
  const values: Value[] = [];
  let end = start;
  for (let field = first; field < count; field += 1) {
    if (lines.fields[end] !== field) return undefined;
    const hasValue = end + 1 < lines.fields.length && !isNext(lines, end + 1, field);
    if (hasValue) values.push({ field, at: end + 1 });
    end += hasValue ? 2 : 1;
  }
  return { start, end, values };
}

/** Everything between two of the lines that are not blank; lines that are all hidden fall away. */
function textBetween(
  { typed, numbers }: Lines,
  { from, to }: { from: number; to: number },
  shown: LineFilter,
): string {
  const first = numbers[from];
  const last = numbers[to - 1];
  if (first === undefined || last === undefined) return '';
  return typed
    .slice(first, last + 1)
    .map((line) => ({ line, left: shown(line) }))
    .filter(({ line, left }) => left === line || left.trim() !== '')
    .map(({ left }) => left)
    .join('\n');
}

/** Every field of the issue form, in the form's order. */
export type FormLayout = readonly {
  name: string;
  /** The label as the form shows it, without `###`; at most 200 characters. */
  heading: string;
  /** At most one field of a form. */
  multiline: boolean;
  /** True for a field that readers get under `contact.fields`. Default: false. */
  expose?: boolean;
}[];

/** The field whose heading a line of a body equals, as its place in the form; −1 for any other line. */
type HeadingFinder = (line: string) => number;

/** A longer heading is none: bringing text into NFC can take quadratic time. */
const HEADING_CHARACTERS_MAX = 200;

const MARK = '### ';
const IS_ASCII = /^\p{ASCII}*$/u;

/** The finder of a form; one for as long as the form lives. */
export const headingFinder: (form: FormLayout) => HeadingFinder = memoize(createHeadingFinder);

function createHeadingFinder(form: FormLayout): HeadingFinder {
  const places = new Map(form.map(({ heading }, place) => [comparable(heading), place]));
  // No other spelling of a character is longer than twice its decomposed one.
  const decomposed = form.map(({ heading }) => heading.trim().normalize('NFD').length);
  const lengthMax = Math.min(HEADING_CHARACTERS_MAX, 2 * Math.max(0, ...decomposed));
  return (line) => {
    if (!line.includes('#')) return -1;
    const typed = line.trimEnd();
    if (typed.length > MARK.length + HEADING_CHARACTERS_MAX) return -1;
    const shown = withOneBlank(withoutInvisible(typed));
    if (!shown.startsWith(MARK) || shown.length > MARK.length + lengthMax) return -1;
    return places.get(comparable(shown.slice(MARK.length))) ?? -1;
  };
}

/** Headings compare in NFC, without invisible signs and blanks around; one blank is as good as another. */
function comparable(heading: string): string {
  const shown = withOneBlank(withoutInvisible(heading)).trim();
  return IS_ASCII.test(shown) ? shown : shown.normalize('NFC');
}

function withOneBlank(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

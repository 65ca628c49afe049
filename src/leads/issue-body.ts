/**
 * Reads the body of an issue form. A form's answers are Markdown, and visitors type Markdown too,
 * so a Markdown parser would believe them. Only the multi-line field can hold more than one line:
 * everything before it is read forward from the start and everything after it backward from the
 * end, and what lies between is that field, whatever it looks like.
 */

/** One field of the issue form, in the form's order. */
type FormField = {
  name: string;
  /** The label as the form shows it, without `###`. */
  heading: string;
  /** At most one field of a form. */
  multiline: boolean;
};

export type FormLayout = readonly FormField[];

/** Values by field name; a field without a value is absent. */
export type FormValues = Readonly<Record<string, string>>;

const NO_RESPONSE = '_No response_';

type Reader = {
  /** As typed. */
  typed: readonly string[];
  /** As compared with headings. */
  lines: readonly string[];
  headings: readonly string[];
  form: FormLayout;
};

/** Linear in the length of the body. CRLF, LF and trailing spaces are alike. */
export function readForm(body: string, form: FormLayout): FormValues {
  const typed = body.split(/\r\n|\n|\r/);
  const reader: Reader = {
    typed,
    lines: typed.map(comparable),
    headings: form.map((field) => comparable(`### ${field.heading}`)),
    form,
  };
  const multilineAt = form.findIndex((field) => field.multiline);
  const values = new Map<string, string>();
  const start = readForward(reader, multilineAt === -1 ? form.length : multilineAt, values);
  if (multilineAt !== -1) {
    const end = readBackward(reader, multilineAt + 1, start, values);
    readBetween(reader, { field: multilineAt, start, end }, values);
  }
  return Object.fromEntries(values);
}

/** Headings are compared in NFC; other lines stay as they were typed. */
function comparable(line: string): string {
  const trimmed = line.trimEnd();
  return trimmed.startsWith('### ') ? `### ${trimmed.slice(4).trim().normalize('NFC')}` : trimmed;
}

/** Reads the fields before `count` and returns the line behind them. */
function readForward(reader: Reader, count: number, values: Map<string, string>): number {
  const { typed, lines, headings, form } = reader;
  let at = 0;
  for (let field = 0; field < count; field += 1) {
    const headingAt = nextNonBlank(lines, at);
    if (lines[headingAt] !== headings[field]) continue;
    const valueAt = nextNonBlank(lines, headingAt + 1);
    const next = headings[field + 1];
    const isNextHeading =
      lines[valueAt] === next && lines[nextNonBlank(lines, valueAt + 1)] !== next;
    if (valueAt >= lines.length || isNextHeading) {
      at = headingAt + 1;
    } else {
      keep(values, form[field], typed[valueAt]);
      at = valueAt + 1;
    }
  }
  return at;
}

/**
 * Reads the fields from `first` on, from the end of the body; they count only all together.
 * Returns the line where the first of them starts, or the end of the body when they do not stand.
 */
function readBackward(
  reader: Reader,
  first: number,
  floor: number,
  values: Map<string, string>,
): number {
  const { typed, lines, headings, form } = reader;
  const found = new Map<string, string>();
  let end = lines.length;
  for (let field = form.length - 1; field >= first; field -= 1) {
    const heading = headings[field];
    const lastAt = previousNonBlank(lines, end);
    const beforeAt = previousNonBlank(lines, lastAt);
    const isEmpty =
      lines[lastAt] === heading &&
      (lines[beforeAt] !== heading || isValueOfPrevious(reader, { field, first, beforeAt }));
    const headingAt = isEmpty ? lastAt : beforeAt;
    if (headingAt < floor || lines[headingAt] !== heading) return lines.length;
    if (!isEmpty) keep(found, form[field], typed[lastAt]);
    end = headingAt;
  }
  for (const [name, value] of found) values.set(name, value);
  return end;
}

/** A heading that stands twice belongs, the first time, to the field before it when that is empty. */
function isValueOfPrevious(
  { lines, headings }: Reader,
  { field, first, beforeAt }: { field: number; first: number; beforeAt: number },
): boolean {
  return field > first && lines[previousNonBlank(lines, beforeAt)] === headings[field - 1];
}

function readBetween(
  { typed, lines, headings, form }: Reader,
  { field, start, end }: { field: number; start: number; end: number },
  values: Map<string, string>,
): void {
  const headingAt = nextNonBlank(lines, start);
  if (headingAt >= end || lines[headingAt] !== headings[field]) return;
  const from = nextNonBlank(lines, headingAt + 1);
  const to = previousNonBlank(lines, end) + 1;
  if (from < to) keep(values, form[field], typed.slice(from, to).join('\n'));
}

function keep(
  values: Map<string, string>,
  field: FormField | undefined,
  text: string | undefined,
): void {
  const value = text?.trim();
  if (field && value && value !== NO_RESPONSE) values.set(field.name, value);
}

function nextNonBlank(lines: readonly string[], from: number): number {
  let at = from;
  while (at < lines.length && isBlank(lines[at])) at += 1;
  return at;
}

/** The last non-blank line before `end`, or −1. */
function previousNonBlank(lines: readonly string[], end: number): number {
  let at = end - 1;
  while (at >= 0 && isBlank(lines[at])) at -= 1;
  return at;
}

function isBlank(line: string | undefined): boolean {
  return line === undefined || line.trim() === '';
}

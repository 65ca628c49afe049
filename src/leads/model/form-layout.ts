import { memoize } from '#shared/caching.ts';

/** One field of the issue form. */
type FormField = {
  name: string;
  /** The label as the form shows it, without `###`; at most 200 characters. */
  heading: string;
  /** At most one field of a form. */
  multiline: boolean;
  /** Whether readers get it under `contact.fields`. Default: false. */
  expose?: boolean;
};

/** Every field of the issue form, in the form's order. */
export type FormLayout = readonly FormField[];

/** The field whose heading a line of a body equals, as its place in the form; −1 for any other line. */
export type HeadingFinder = (line: string) => number;

/** A longer heading is none: bringing text into NFC can take quadratic time. */
const HEADING_CHARACTERS_MAX = 200;

const MARK = '### ';
const IS_ASCII = /^\p{ASCII}*$/u;

/** The finder of a form; one for as long as the form lives. */
export const headingFinder: (form: FormLayout) => HeadingFinder = memoize(createHeadingFinder);

/** Headings compare in NFC, without blanks around. */
function createHeadingFinder(form: FormLayout): HeadingFinder {
  const places = new Map(form.map(({ heading }, place) => [comparable(heading), place]));
  // No other spelling of a character is longer than twice its decomposed one.
  const decomposed = form.map(({ heading }) => heading.trim().normalize('NFD').length);
  const lengthMax = Math.min(HEADING_CHARACTERS_MAX, 2 * Math.max(0, ...decomposed));
  return (line) => {
    if (!line.startsWith(MARK)) return -1;
    const heading = line.slice(MARK.length).trim();
    return heading.length > lengthMax ? -1 : (places.get(comparable(heading)) ?? -1);
  };
}

function comparable(heading: string): string {
  const trimmed = heading.trim();
  return IS_ASCII.test(trimmed) ? trimmed : trimmed.normalize('NFC');
}

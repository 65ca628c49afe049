import { isTrackportError } from '#shared/errors.ts';
import { trimJson } from '../read-delivery.ts';

/** The bytes of a file, from its start. */
export type OpenFile = () => AsyncIterable<Buffer>;

/** The file is a JSON array, of which each element is a delivery, or it has one JSON text a line. */
type FileForm = 'element' | 'line';

/** The text of one delivery. */
export type FileText = {
  form: FileForm;
  /** Of the line, blank ones counted, or of the element; from 1. */
  number: number;
  bytes: Buffer;
};

/** A line, or an element, that cannot be read. The message is for people, and repeats nothing of the file. */
export class UnreadableText extends Error {
  constructor({ form, number }: Pick<FileText, 'form' | 'number'>, why: string) {
    super(`${form === 'line' ? 'Line' : 'Element'} ${number} cannot be read. ${why}`);
    this.name = 'UnreadableText';
  }
}

/** Says which text it was that could not be read; what is no fault of the text is thrown on. */
export function refuseText(text: FileText, error: unknown): never {
  if (!isTrackportError(error)) throw error;
  const { code, detail = code, errors = [] } = error;
  throw new UnreadableText(text, errors[0]?.detail ?? detail);
}

/**
 * The texts of a file, one after the other, without white space around them. Holds no more of the file than one of
 * them, which has `bytesMax` at most. @throws {UnreadableText}
 */
export async function* readTexts(open: OpenFile, bytesMax: number): AsyncGenerator<FileText> {
  const form = await findForm(open());
  const collector = createCollector(form, bytesMax);
  yield* form === 'line' ? linesOf(open(), collector) : elementsOf(open(), collector);
}

/** An array is the whole file, unless something follows: then it is a batch in its line. */
async function findForm(chunks: AsyncIterable<Buffer>): Promise<FileForm> {
  const nesting = createNesting();
  for await (const chunk of chunks)
    for (const byte of chunk) {
      if (nesting.depth() === 0 && BLANK.has(byte)) continue;
      if (nesting.isClosed() || (nesting.depth() === 0 && byte !== OPEN_ARRAY)) return 'line';
      nesting.step(byte);
    }
  return nesting.depth() > 0 || nesting.isClosed() ? 'element' : 'line';
}

async function* linesOf(
  chunks: AsyncIterable<Buffer>,
  collector: Collector,
): AsyncGenerator<FileText> {
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
      collector.add(chunk.subarray(start, at));
      yield* collector.cut({ skipsBlank: true });
      start = at + 1;
    }
    collector.add(chunk.subarray(start));
  }
  yield* collector.cut({ skipsBlank: true });
}

async function* elementsOf(
  chunks: AsyncIterable<Buffer>,
  collector: Collector,
): AsyncGenerator<FileText> {
  const nesting = createNesting();
  let isEmpty = true;
  for await (const chunk of chunks) {
    let start = nesting.depth() > 0 ? 0 : chunk.length;
    for (const [at, byte] of chunk.entries()) {
      const mark = nesting.step(byte);
      if (mark === undefined) continue;
      if (mark !== 'opens') {
        collector.add(chunk.subarray(start, at));
        yield* collector.cut({ skipsBlank: mark === 'closes' && isEmpty });
        isEmpty = false;
      }
      start = mark === 'closes' ? chunk.length : at + 1;
    }
    collector.add(chunk.subarray(start));
  }
  if (!nesting.isClosed()) collector.refuse('The file ends within it.');
}

/** The bytes of the text that is being read. */
type Collector = {
  add(bytes: Buffer): void;
  /** The text that ends here; none when it is skipped. */
  cut(how: { skipsBlank: boolean }): FileText[];
  refuse(why: string): never;
};

function createCollector(form: FileForm, bytesMax: number): Collector {
  let number = 1;
  let parts: Buffer[] = [];
  let size = 0;
  const refuse = (why: string): never => {
    throw new UnreadableText({ form, number }, why);
  };
  return {
    add: (bytes) => {
      size += bytes.length;
      if (size > bytesMax) refuse(`It is longer than the ${bytesMax} bytes of one delivery.`);
      parts.push(bytes);
    },
    cut: ({ skipsBlank }) => {
      const bytes = trimJson(Buffer.concat(parts));
      const text = { form, number, bytes };
      number += 1;
      parts = [];
      size = 0;
      return skipsBlank && bytes.length === 0 ? [] : [text];
    },
    refuse,
  };
}

const NEWLINE = 0x0a;
const OPEN_ARRAY = 0x5b;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING = new Set([OPEN_ARRAY, 0x7b]); // [ {
const CLOSING = new Set([0x5d, 0x7d]); // ] }
/** White space, and the bytes of a byte order mark. */
const BLANK = new Set([0x20, 0x09, NEWLINE, 0x0d, 0xef, 0xbb, 0xbf]);

/** Finds the elements of an array, byte by byte. The reader finds out whether they are JSON. */
function createNesting() {
  let depth = 0;
  let isText = false;
  let isEscaped = false;
  let isClosed = false;
  const inText = (byte: number): undefined => {
    if (isEscaped) isEscaped = false;
    else if (byte === BACKSLASH) isEscaped = true;
    else if (byte === QUOTE) isText = false;
  };
  const close = (): 'closes' | undefined => {
    depth -= 1;
    isClosed ||= depth === 0;
    return depth === 0 ? 'closes' : undefined;
  };
  return {
    depth: () => depth,
    isClosed: () => isClosed,
    /** The byte's meaning for the elements, if it has one. */
    step: (byte: number): 'opens' | 'ends' | 'closes' | undefined => {
      if (isText) return inText(byte);
      if (CLOSING.has(byte)) return close();
      if (byte === QUOTE) isText = true;
      else if (OPENING.has(byte)) depth += 1;
      if (depth !== 1) return undefined;
      if (byte === COMMA) return 'ends';
      return byte === OPEN_ARRAY ? 'opens' : undefined;
    },
  };
}

/** Measures a JSON text without parsing it: by its punctuation, in one linear pass. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const POINT = 0x2e;
/** More characters than this, and a double may not hold the number. */
const EXACT_CHARACTERS_MAX = 15;

type JsonShape = {
  /** Levels of objects and arrays inside each other, counted up to one more than the caller takes. */
  depth: number;
  /** Members and elements: at least as many as there are. */
  values: number;
  /** Names of members, each as often as it stands there. */
  names: number;
  /** Numbers of more than 15 characters or with an exponent: no other can change in a double. */
  hasLongNumbers: boolean;
};

/** The shape of a text that may be no JSON at all; it is read until it nests too deep. */
export function shapeOf(text: string, depthMax: number): JsonShape {
  const shape: JsonShape = { depth: 0, values: 0, names: 0, hasLongNumbers: false };
  let level = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA) shape.values += 1;
    else if (code === COLON) shape.names += 1;
    else if (opens(code)) {
      level += 1;
      shape.values += 1;
      shape.depth = Math.max(shape.depth, level);
      if (level > depthMax) return shape;
    } else if (closes(code)) level -= 1;
    else if (isDigit(code)) {
      const end = endOfDigits(text, at);
      shape.hasLongNumbers ||= end - at > EXACT_CHARACTERS_MAX || isExponent(text.charCodeAt(end));
      at = end - 1;
    }
  }
  return shape;
}

/** The first name that stands twice in one object of a valid JSON text, its escapes resolved. */
export function repeatedNameIn(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (opens(code)) open.push(new Set());
    else if (closes(code)) open.pop();
    else if (code === QUOTE) {
      const end = endOfString(text, at);
      if (isName(text, end + 1)) {
        const name = JSON.parse(text.slice(at, end + 1)) as string;
        if (open.at(-1)?.has(name)) return name;
        open.at(-1)?.add(name);
      }
      at = end;
    }
  }
  return undefined;
}

/** True when a colon comes next. */
function isName(text: string, from: number): boolean {
  let at = from;
  while (isBlank(text.charCodeAt(at))) at += 1;
  return text.charCodeAt(at) === COLON;
}

/** Position behind a run of digits and points. */
function endOfDigits(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (!isDigit(code) && code !== POINT) return at;
  }
  return text.length;
}

/** Position of the closing quote: the next one that no odd number of backslashes escapes. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((at - before) % 2 === 1) return at;
  }
  return text.length;
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
}

function opens(code: number): boolean {
  return code === 0x5b || code === 0x7b;
}

function closes(code: number): boolean {
  return code === 0x5d || code === 0x7d;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isExponent(code: number): boolean {
  return code === 0x65 || code === 0x45;
}

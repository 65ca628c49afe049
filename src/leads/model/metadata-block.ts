/**
 * The block that a portal writes behind the form's fields, for machines. Only issues of portals are looked
 * at here. A portal always appends its own block, so nothing that a visitor typed is the last one; and
 * blocks name people's ids in the partners' systems, so no reader ever sees one, believed or not.
 */
import { parse } from 'yaml';
import { isRecord } from '#shared/text/json.ts';
import { type FormLayout, headingFinder } from './issue-body.ts';

/** The content of a metadata block. */
export type Metadata = {
  correlationId?: string;
  /** Only an http or https URL. */
  portalRunUrl?: string;
  /** The person's id in each partner's system, by partner id. */
  externalIds: Readonly<Record<string, string>>;
};

const START = /<!-- trackport(?=\s|-->|$)/g;
const START_CHARACTERS = '<!-- trackport'.length;
const END = '-->';
const BLOCK_CHARACTERS_MAX = 8192;

/** Position of a block in the body; `end` is behind it. */
type Block = { start: number; end: number; isClosed: boolean; isOneLine: boolean };

/** A line that is a heading of the form, as an offset and the field's place in the form. */
type Heading = { at: number; field: number };

/**
 * Takes the blocks out of a body: its text for the form, and what the last of them says. That one counts
 * when it can be read, has lines of its own, and no heading of the form stands behind it; then a person's
 * note follows it, no part of the text. An earlier one never counts. Blocks of one line never count
 * either, for a visitor can type one into any field: they stay in the text, where `withoutBlocks` hides
 * them, so that they still hold the place of the value that they are.
 */
export function splitMetadata(
  body: string,
  form: FormLayout,
): { text: string; metadata?: Metadata } {
  const starts = [...body.matchAll(START)].map(({ index }) => index);
  const last = starts.at(-1);
  if (last === undefined) return { text: body };
  const headings = headingsOf(body, form);
  const blocks = findBlocks(body, starts, headings);
  const multiline = form.findIndex((field) => field.multiline);
  const messageAt = headings.find(({ field }) => field === multiline)?.at ?? Infinity;
  const isBelieved = (headings.at(-1)?.at ?? -1) < last && !isMoved(blocks, messageAt);
  const metadata = isBelieved ? readBlock(body, blocks.at(-1)) : undefined;
  const text = metadata ? body.slice(0, last) : body;
  return { text: cutBlocks(text, blocks), metadata };
}

/**
 * True when a person moved the portal's block, so that the last one may be a visitor's: none types
 * several lines above the multi-line field.
 */
function isMoved(blocks: readonly Block[], messageAt: number): boolean {
  return blocks.slice(0, -1).some(({ start, isOneLine }) => !isOneLine && start < messageAt);
}

/** A line without the metadata blocks that start and end in it. */
export function withoutBlocks(line: string): string {
  const end = line.lastIndexOf(END);
  if (end === -1 || !line.includes('<!-- trackport')) return line;
  // Up to the last end every start has one, so that this is linear.
  const inside = line.slice(0, end + END.length);
  return inside.replaceAll(/<!-- trackport(?=\s|-->)[^]*?-->/g, '') + line.slice(end + END.length);
}

function headingsOf(body: string, form: FormLayout): Heading[] {
  const findHeading = headingFinder(form);
  return [...body.matchAll(/(?:^|\r\n|\n|\r)([^\r\n#]*#[^\r\n#]*#[^\r\n#]*#[^\r\n]*)/g)]
    .map(({ index, 1: line = '' }) => ({ at: index, field: findHeading(line) }))
    .filter(({ field }) => field !== -1);
}

/**
 * A block ends before the next one and before any heading of the form, so that nobody hides a field
 * by an open one. Where an end was lost, the last block goes on to there: it holds ids all the same.
 */
function findBlocks(
  body: string,
  starts: readonly number[],
  headings: readonly Heading[],
): Block[] {
  const blocks: Block[] = [];
  let heading = 0;
  let closedAt = -1;
  for (const [index, start] of starts.entries()) {
    while ((headings[heading]?.at ?? Infinity) < start) heading += 1;
    const limit = Math.min(starts[index + 1] ?? body.length, headings[heading]?.at ?? body.length);
    const inside = start + START_CHARACTERS;
    if (closedAt < inside) closedAt = indexOrInfinity(body, inside);
    const isClosed = closedAt + END.length <= limit;
    if (!isClosed && index < starts.length - 1) continue;
    const end = isClosed ? closedAt + END.length : limit;
    blocks.push({ start, end, isClosed, isOneLine: !/[\r\n]/.test(body.slice(start, end)) });
  }
  return blocks;
}

function indexOrInfinity(body: string, from: number): number {
  const at = body.indexOf(END, from);
  return at === -1 ? Infinity : at;
}

function cutBlocks(text: string, blocks: readonly Block[]): string {
  const pieces: string[] = [];
  let from = 0;
  for (const { start, end, isClosed, isOneLine } of blocks) {
    if (start >= text.length || (isClosed && isOneLine)) continue;
    pieces.push(text.slice(from, start));
    from = end;
  }
  return pieces.join('') + text.slice(from);
}

function readBlock(body: string, block: Block | undefined): Metadata | undefined {
  if (!block?.isClosed || block.isOneLine) return undefined;
  if (block.end - block.start > BLOCK_CHARACTERS_MAX || !isBlankBefore(body, block.start))
    return undefined;
  const inner = body.slice(block.start + START_CHARACTERS, block.end - END.length);
  return parseMetadata(inner.replaceAll(/\r\n?/g, '\n'));
}

/** True when nothing but blanks stands before this place on its line. */
function isBlankBefore(body: string, place: number): boolean {
  let at = place - 1;
  while (body[at] === ' ' || body[at] === '\t') at -= 1;
  return at < 0 || body[at] === '\n' || body[at] === '\r';
}

function parseMetadata(inner: string): Metadata | undefined {
  const fields = parseYaml(inner);
  if (!isRecord(fields)) return undefined;
  const correlationId = textOf(fields['correlationId']);
  const portalRunUrl = httpUrlOf(textOf(fields['portalRunUrl']));
  const externalIds = Object.entries(isRecord(fields['externalIds']) ? fields['externalIds'] : {})
    .map(([partner, id]) => [partner, textOf(id)] as const)
    .filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { correlationId, portalRunUrl, externalIds: Object.fromEntries(externalIds) };
}

/** Enough for a hundred external ids. Each token costs the YAML parser up to 50 µs. */
const TOKENS_MAX = 600;
const TOKEN = /\n[^\S\n]*|[^\S\n]+|[:,[\]{}"']/g;
/** Lists and maps inside each other: the parser calls itself for each. */
const BRACKETS_MAX = 16;
/** Nesting that takes a character or two a level, and keys of several lines. */
const NESTED_OR_LONG_KEY = /^[ \t]*(?:\?(?:\s|$)|(?:[-:][ \t]+){2})/m;

/** True for what the YAML parser reads in a few milliseconds, and with a flat stack. */
function isModest(text: string): boolean {
  const tokens = text.match(TOKEN) ?? [];
  const brackets = tokens.filter((token) => token === '[' || token === '{');
  return (
    tokens.length <= TOKENS_MAX && brackets.length <= BRACKETS_MAX && !NESTED_OR_LONG_KEY.test(text)
  );
}

/** In the failsafe schema every scalar is text, so that `0123` and `4711` stay as written. */
function parseYaml(text: string): unknown {
  if (!isModest(text)) return undefined;
  try {
    return parse(text, {
      schema: 'failsafe',
      maxAliasCount: 0,
      logLevel: 'error',
      prettyErrors: false,
    });
  } catch {
    return undefined;
  }
}

/** A longer text is no URL: bringing a host into ASCII can take quadratic time. */
const URL_CHARACTERS_MAX = 2048;

/** The URL when it is http or https, else nothing: a link is shown to people. */
export function httpUrlOf(text: string | undefined): string | undefined {
  if (text === undefined || text.length > URL_CHARACTERS_MAX || !URL.canParse(text))
    return undefined;
  const { protocol } = new URL(text);
  return protocol === 'http:' || protocol === 'https:' ? text : undefined;
}

/** YAML's nulls, which portals write for a value that they do not have: all such people would have one id. */
const NO_VALUE = /^(?:~|null)?$/i;

function textOf(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.trim() : '';
  return NO_VALUE.test(text) ? undefined : text;
}

import { parse } from 'yaml';

import { isRecord } from '#shared/json.ts';

/** What a portal writes behind the form's answers, for machines. */
type Metadata = {
  correlationId?: string;
  /** Only an http or https URL. */
  portalRunUrl?: string;
  /** The person's id in each partner's system, by partner id. */
  externalIds: Readonly<Record<string, string>>;
};

/** The body without its metadata block, and the block when there is one. */
export type SplitBody = { text: string; metadata?: Metadata };

const START = '<!-- trackport';
const END = '-->';
const BLOCK_CHARACTERS_MAX = 8192;

/**
 * Splits the metadata block off the end of a body. It counts only as the very last thing; whether
 * the author may write one is the caller's question. What cannot be read is left as text.
 */
export function splitMetadata(body: string): SplitBody {
  const trimmed = body.trimEnd();
  if (!trimmed.endsWith(END)) return { text: body };
  const startAt = trimmed.lastIndexOf(START);
  if (startAt === -1 || trimmed.length - startAt > BLOCK_CHARACTERS_MAX) return { text: body };
  if (startAt > 0 && !/[\r\n]/.test(trimmed.charAt(startAt - 1))) return { text: body };
  const inner = trimmed.slice(startAt + START.length, -END.length);
  if (!/^\s/.test(inner) || inner.includes(END)) return { text: body };
  const metadata = parseMetadata(inner);
  return metadata ? { text: trimmed.slice(0, startAt), metadata } : { text: body };
}

function parseMetadata(inner: string): Metadata | undefined {
  const fields = parseYaml(inner);
  if (!isRecord(fields)) return undefined;
  const correlationId = textOf(fields['correlationId']);
  const portalRunUrl = httpUrlOf(textOf(fields['portalRunUrl']));
  const externalIds = Object.entries(isRecord(fields['externalIds']) ? fields['externalIds'] : {})
    .map(([partner, id]) => [partner, textOf(id)] as const)
    .filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    ...(correlationId !== undefined && { correlationId }),
    ...(portalRunUrl !== undefined && { portalRunUrl }),
    externalIds: Object.fromEntries(externalIds),
  };
}

/** In the failsafe schema every scalar is text, so that `0123` and `4711` stay as written. */
function parseYaml(text: string): unknown {
  try {
    return parse(text, { schema: 'failsafe', maxAliasCount: 0, logLevel: 'error' });
  } catch {
    return undefined;
  }
}

/** The URL when it is http or https, else nothing: a link is shown to people. */
export function httpUrlOf(text: string | undefined): string | undefined {
  if (text === undefined || !URL.canParse(text)) return undefined;
  const { protocol } = new URL(text);
  return protocol === 'http:' || protocol === 'https:' ? text : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

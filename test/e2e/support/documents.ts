/** The code of the documents, for the tests that run it as it stands there. */
import { readdirSync, readFileSync } from 'node:fs';

export type Block = {
  document: string;
  /** For names of tests. */
  place: string;
  /** Words behind the fence; may be empty. */
  language: string;
  /** Without the indent of a list, with the last line break. */
  text: string;
};

const markdownIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);

/** Documents that newcomers paste from. */
export const documents: readonly string[] = [
  'README.md',
  'docs/client.md',
  ...markdownIn('docs/how-to'),
];

/** Fenced blocks, also those that are part of a list. */
export function blocksOf(document: string): Block[] {
  const whole = readFileSync(document, 'utf8');
  return [...whole.matchAll(/^( *)```(\w*)\n(.*?)^ *```$/gms)].map((match) => {
    const [, indent = '', language = '', body = ''] = match;
    const place = `${document}:${whole.slice(0, match.index).split('\n').length}`;
    const lines = body.split('\n').map((row) => row.slice(indent.length));
    return { document, place, language, text: lines.join('\n') };
  });
}

/**
 * The only block of a document that holds this text. `test/e2e/docs/coverage.test.ts` finds these calls
 * in the tests' source and so knows what is run: write both arguments as plain strings.
 */
export function takeBlock(document: string, text: string): string {
  const found = blocksOf(document).filter((block) => block.text.includes(text));
  const [block] = found;
  if (!block || found.length > 1)
    throw new Error(`${document} has ${found.length} blocks with ${text}`);
  return block.text;
}

const KEYS =
  /^(?:server|secretKey|store|tracker|leads|identity|portal|partners|deletions|catalog|consumers):/m;

/** A part of our configuration file; alert rules and artifacts are YAML as well. */
export const isConfiguration = ({ language, text }: Block): boolean =>
  language === 'yaml' && KEYS.test(text);

/** Lines of the form `GET /api/…`, and nothing else. */
export const isRequestLines = ({ language, text }: Block): boolean =>
  language === '' && text.split('\n').every((line) => line === '' || /^[A-Z]+ \/\S+/.test(line));

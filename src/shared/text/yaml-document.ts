import { Composer, CST, type Document, Lexer, LineCounter, Parser } from 'yaml';

/** As deep as JSON may nest, and one level more for what a spec stands in. */
export const YAML_DEPTH_MAX = 65;

/** A place in a text, both from 1; columns count UTF-16 units, as editors do. */
export type TextPlace = { line: number; column: number };

export type YamlDocument = {
  document: Document.Parsed;
  lines: LineCounter;
  /** Where the next document begins, in a text that has several. */
  secondAt?: number;
  /** Where more than 65 levels nest: from here on the text was not read. */
  tooDeepAt?: number;
};

/**
 * The first document of a text, with all that the library finds wrong with it but names that stand twice.
 * It is the library's `parseDocument` without what takes it seconds: composing what nests until its stack
 * is full, and comparing each name of a map with each other.
 */
export function parseYaml(
  text: string,
  options: { merge?: boolean; intAsBigInt?: boolean } = {},
): YamlDocument {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  // It would warn of some keys on standard error, and quote them.
  const composer = new Composer({ ...options, uniqueKeys: false, logLevel: 'error' });
  const documents: Document.Parsed[] = [];
  const compose = (token: CST.Token): void => void documents.push(...composer.next(token));
  let tooDeepAt: number | undefined;
  for (const lexeme of new Lexer().lex(text)) {
    parser.next(lexeme).forEach(compose);
    tooDeepAt = tooDeepIn(parser);
    if (tooDeepAt !== undefined) break;
  }
  parser.end().forEach(compose);
  documents.push(...composer.end(true, parser.offset));
  const [document, second] = documents;
  if (!document) throw new Error('the composer made no document');
  return { document, lines, secondAt: second?.range[0], tooDeepAt };
}

/** Where the collection begins that is one too many inside of others; undefined while there is none. */
function tooDeepIn({ stack }: Parser): number | undefined {
  if (stack.length <= YAML_DEPTH_MAX) return undefined;
  return stack.filter((token) => CST.isCollection(token))[YAML_DEPTH_MAX]?.offset;
}

/** The place of an offset. */
export function placeOf(lines: LineCounter, at: number): TextPlace {
  const { line, col } = lines.linePos(at);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

import { isAlias, isMap, isPair, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';

/** A place in a text, both from 1; columns count UTF-16 units, as editors do. */
export type TextPlace = { line: number; column: number };

/** Finds what stands at a path of names and indices; what is not there, at the nearest thing above it. */
export type FindPlace = (path: readonly string[]) => TextPlace;

/**
 * Reads where everything stands in a text of YAML or JSON: a member of a map where its name begins, an
 * element of a list where it begins itself. Undefined for what the parser gives up. It takes about 50 times
 * the text's memory.
 */
export function readPlaces(text: string): FindPlace | undefined {
  const lines = new LineCounter();
  try {
    // Names that stand twice cost a search each, and the reader of the document has refused them.
    const document = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      logLevel: 'silent',
      uniqueKeys: false,
    });
    return (path) => {
      const { line, col } = lines.linePos(offsetAt(document, document.contents, path));
      return { line: Math.max(1, line), column: Math.max(1, col) };
    };
  } catch {
    return undefined;
  }
}

type AnyDocument = ReturnType<typeof parseDocument>;

function offsetAt(document: AnyDocument, root: unknown, path: readonly string[]): number {
  let offset = startOf(root) ?? 0;
  let node = root;
  for (const step of path) {
    const holder = isAlias(node) ? node.resolve(document) : node;
    const child = childOf(holder, step);
    if (child === undefined) break;
    offset = startOf(isPair(child) ? child.key : child) ?? offset;
    node = isPair(child) ? child.value : child;
  }
  return offset;
}

function childOf(node: unknown, step: string): unknown {
  if (isSeq(node)) return /^\d{1,9}$/.test(step) ? node.items[Number(step)] : undefined;
  if (!isMap(node)) return undefined;
  return node.items.find(({ key }) => isScalar(key) && String(key.value) === step);
}

function startOf(node: unknown): number | undefined {
  return (node as { range?: [number] } | null | undefined)?.range?.[0];
}

import { boundPointer } from '#shared/text/json.ts';

/** A finding about one place of a spec, by validation or by comparison. `pointer` starts with `#/spec`. */
export type Finding = { pointer: string; code: string; detail: string };

/** More findings of a spec are counted, not shown. */
export const FINDINGS_MAX = 100;

/** A JSON Pointer as a URI fragment (RFC 6901 §6), bounded as well. */
export function fragmentOf(pointer: string): string {
  const encoded = encodeURI(boundPointer(pointer).toWellFormed());
  return boundPointer(`#${encoded.replaceAll('#', '%23')}`);
}

/** Kind of a document, as it declares itself. */
export type SpecKind = 'openapi' | 'asyncapi' | 'other';

/**
 * Says what is wrong with a spec, given as its JSON text, without holding up everybody else.
 * @throws {overloaded} too many big ones wait
 */
export type SpecChecker = (specText: string, signal?: AbortSignal) => Promise<Finding[]>;

/** Looks at the document's own word: `openapi` or `swagger`, `asyncapi`. */
export function specKindOf(document: unknown): SpecKind {
  if (typeof document !== 'object' || document === null) return 'other';
  if (Object.hasOwn(document, 'openapi') || Object.hasOwn(document, 'swagger')) return 'openapi';
  return Object.hasOwn(document, 'asyncapi') ? 'asyncapi' : 'other';
}

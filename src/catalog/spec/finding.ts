import type { z } from 'zod';
import type { findingOut } from './finding-out.ts';

/** What `findingOut` describes, which is a file of its own: threads that find do without zod. */
export type Finding = z.infer<typeof findingOut>;

/** More findings of a spec are counted, not shown. */
export const FINDINGS_MAX = 100;

/** A JSON Pointer as a URI fragment (RFC 6901 §6). */
export function fragmentOf(pointer: string): string {
  return `#${encodeURI(pointer.toWellFormed()).replaceAll('#', '%23')}`;
}

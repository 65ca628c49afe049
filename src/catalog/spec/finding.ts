import { z } from 'zod';

/** More findings of a spec are counted, not shown. */
export const FINDINGS_MAX = 100;

/** What is said about one place of a spec, by validation or by comparison. `pointer` starts with `#/spec`. */
export const findingOut = z
  .object({ pointer: z.string(), code: z.string(), detail: z.string() })
  .meta({
    id: 'Finding',
    description: 'What validation says about one place of the spec, or what breaks there.',
  });

/** A JSON Pointer as a URI fragment (RFC 6901 §6). */
export function fragmentOf(pointer: string): string {
  return `#${encodeURI(pointer.toWellFormed()).replaceAll('#', '%23')}`;
}

export type Finding = z.infer<typeof findingOut>;

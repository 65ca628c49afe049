import { z } from 'zod';

/** What validation says about one place of a spec. `pointer` starts with `#/spec`. */
export const findingOut = z
  .object({ pointer: z.string(), code: z.string(), detail: z.string() })
  .meta({ id: 'Finding', description: 'What validation says about one place of the spec.' });

export type Finding = z.infer<typeof findingOut>;

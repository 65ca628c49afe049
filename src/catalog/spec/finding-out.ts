import { z } from 'zod';

/** What is said about one place of a spec, by validation or by comparison. `pointer` starts with `#/spec`. */
export const findingOut = z
  .object({ pointer: z.string(), code: z.string(), detail: z.string() })
  .meta({
    id: 'Finding',
    description: 'What validation says about one place of the spec, or what breaks there.',
  });

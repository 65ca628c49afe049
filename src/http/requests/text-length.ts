import type { z } from 'zod';
import { isLongerThan } from '#shared/text/visible.ts';

/**
 * Refuses a text of more than `max` characters, counted as `maxLength` of the OpenAPI document is: by
 * code points. Zod's own `max` counts UTF-16 units, of which an emoji has two.
 */
export function atMost(schema: z.ZodString, max: number, rule: string): z.ZodString {
  return schema
    .refine((text) => !isLongerThan(text, max), { error: rule, params: { code: 'out-of-range' } })
    .meta({ maxLength: max });
}

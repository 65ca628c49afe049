import { z } from 'zod';
import { errorCodes } from '#shared/errors.ts';

const fieldProblemOut = z
  .object({
    pointer: z.string().optional().describe('JSON Pointer into the body, as a fragment.'),
    parameter: z.string().optional().describe('Name of the path or query parameter.'),
    header: z.string().optional().describe('Name of the header.'),
    code: z.string(),
    detail: z.string(),
  })
  .meta({ id: 'FieldProblem', description: 'One wrong part of the request.' });

/** The body of every error (RFC 9457). */
export const problemOut = z
  .looseObject({
    type: z.string().meta({ format: 'uri', description: 'Leads to a page of help.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().optional(),
    instance: z.string().meta({ format: 'uri', description: '`urn:uuid:` and the request id.' }),
    code: z.string().meta({ description: 'Stable; decide by it.', enum: [...errorCodes] }),
    errors: z.array(fieldProblemOut).optional(),
    current: z.string().optional().describe('The state that stands in the way.'),
    consumerId: z.string().optional().describe('Whose key the first call made.'),
    keyId: z.string().optional().describe('The public part of that key.'),
    allowed: z.array(z.string()).optional().describe('The steps that are possible in that state.'),
  })
  .meta({ id: 'Problem', description: 'Problem details (RFC 9457).' });

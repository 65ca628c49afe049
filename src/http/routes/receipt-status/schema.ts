import { z } from 'zod';

export const receiptStatusParams = z.object({
  // Told, not checked: whatever is no token gets one and the same 404.
  token: z.string().meta({
    description: 'As in the `Location` of the answer to a delivery.',
    maxLength: 256,
  }),
});

import { z } from 'zod';

/**
 * What a partner may send: free-form, since each partner's fields are found by pointers. Only for
 * openapi.json; the bytes are read after their signature was checked.
 */
export const deliveryIn = z.union([z.looseObject({}), z.array(z.looseObject({})).max(500)]).meta({
  id: 'Delivery',
  description: 'One event, or a batch of up to 500. Signed as raw bytes.',
  examples: [
    { eventType: 'lead.deletion', eventId: 'evt-81', externalId: 'crm-1-000123' },
    [{ subscriptionType: 'contact.deletion', eventId: 3816279340, objectId: 1246965 }],
  ],
});

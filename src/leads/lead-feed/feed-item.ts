import { z } from 'zod';
import { memoize } from '#shared/caching.ts';
import { instantOut } from '#shared/instant-out.ts';
import { leadOut, renderLead } from '../model/lead-out.ts';

/** The event that says that everything up to now was told. */
export const CAUGHT_UP = 'caught-up';

const id = z.string().describe('The issue number as text.');

/** A change of one lead. */
const feedItemOut = z
  .discriminatedUnion('type', [
    z.object({
      type: z.literal('lead.changed'),
      id,
      at: instantOut,
      lead: leadOut,
    }),
    z.object({ type: z.literal('lead.removed'), id, at: instantOut }),
  ])
  .meta({
    id: 'LeadFeedItem',
    description:
      '`lead.changed`: put the lead into your copy, in the place of what you have of it. `lead.removed`: take it out.',
  });

export type FeedItem = z.infer<typeof feedItemOut>;

/** One server-sent event of the lead feed. */
export const feedEventOut = z
  .object({
    id: z.string().describe('Where to go on behind it: `Last-Event-ID`, or `cursor`.'),
    event: z
      .enum(['lead.changed', 'lead.removed', CAUGHT_UP])
      .describe('`caught-up`: everything up to now was told.'),
    data: z
      .string()
      .describe('One line of JSON: the item, or `{}` of `caught-up`.')
      .meta({
        contentMediaType: 'application/json',
        contentSchema: {
          anyOf: [
            { $ref: '#/components/schemas/LeadFeedItem' },
            { type: 'object', maxProperties: 0 },
          ],
        },
      }),
  })
  .meta({ id: 'LeadFeedEvent', description: 'A server-sent event; the stream is a row of them.' });

const REMOVAL_BYTES = 100;

/** One page of the lead feed, oldest first. */
export const feedPageOut = z
  .object({
    items: z.array(feedItemOut).readonly(),
    pagination: z
      .object({
        hasMore: z.boolean().describe('True: more is there already.'),
        nextCursor: z.string().describe('Always there: where to go on, now or later.'),
      })
      .meta({ id: 'LeadFeedPagination' }),
  })
  .meta({ id: 'LeadFeedPage' });

export type FeedPage = z.infer<typeof feedPageOut>;

/** About how long an item is as JSON. */
export function bytesOfItem(item: FeedItem): number {
  return item.type === 'lead.removed' ? REMOVAL_BYTES : renderLead(item.lead).length;
}

/** An item as JSON, in pieces: the long one is the lead as everybody gets it. */
export function piecesOf(item: FeedItem): Buffer[] {
  if (item.type === 'lead.removed') return [Buffer.from(JSON.stringify(item))];
  const { lead, ...head } = item;
  const open = JSON.stringify(head).slice(0, -1);
  return [Buffer.from(`${open},"lead":`), renderLead(lead), Buffer.from('}')];
}

/** About how long a page is as JSON: known before it is made. */
export function bytesOfPage({ items }: FeedPage): number {
  return items.reduce((bytes, item) => bytes + bytesOfItem(item), 0);
}

/** A page as JSON, made once: many can ask for the same. */
export const renderFeedPage: (page: FeedPage) => Buffer = memoize(({ items, pagination }) => {
  const parts = items.flatMap((item) => [Buffer.from(','), ...piecesOf(item)]).slice(1);
  const end = `],"pagination":${JSON.stringify(pagination)}}`;
  return Buffer.concat([Buffer.from('{"items":['), ...parts, Buffer.from(end)]);
});

import { z } from 'zod';
import { memoize } from '#shared/caching.ts';
import { instantOut } from '#shared/instant-out.ts';
import { leadOut, renderLead } from '../model/lead-out.ts';

const id = z.string().describe('The issue number as text.');

/** What became of a lead. */
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

/** An item as JSON, made once. */
export const renderFeedItem: (item: FeedItem) => Buffer = memoize((item) => {
  if (item.type === 'lead.removed') return Buffer.from(JSON.stringify(item));
  const { lead, ...head } = item;
  const open = JSON.stringify(head).slice(0, -1);
  return Buffer.concat([Buffer.from(`${open},"lead":`), renderLead(lead), Buffer.from('}')]);
});

export function renderFeedPage({ items, pagination }: FeedPage): Buffer {
  const parts = items.flatMap((item) => [Buffer.from(','), renderFeedItem(item)]).slice(1);
  const end = `],"pagination":${JSON.stringify(pagination)}}`;
  return Buffer.concat([Buffer.from('{"items":['), ...parts, Buffer.from(end)]);
}

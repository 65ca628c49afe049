import { z } from 'zod';
import { PAYLOAD_KEPT_MS } from '#partners/receipts/purge-receipts.ts';
import type { ReceiptDetail } from '#partners/receipts/receipt.ts';
import type { NotQueuedReason, Replayed } from '#partners/receipts/replay-receipts.ts';
import { html } from '../../html.ts';
import type { PortalRoutes } from '../../routes/route-types.ts';
import { code, foreign } from '../../shell/parts.ts';
import { counted, type Reader, time } from '../../shell/times.ts';
import type { PagesContext } from '../context.ts';
import { findClaim } from './claims.ts';
import { receiptPath, RECEIPTS_PATH, scope } from './query.ts';
import { EVENTS_SHOWN, receiptView } from './receipt-view.ts';
import { shortId, statusBadge } from './words.ts';

/** Of one event: the others stand without what is known of them. */
const LEADS_LOOKED_AT_MAX = 10;

const params = z.object({ id: z.string().max(64) });
const query = z.strictObject({
  start: z
    .string()
    .regex(/^[0-9]{1,4}$/, 'must be a number')
    .optional()
    .transform((digits) => Number(digits ?? 0)),
});

/** `/portal/receipts/:id`: one receipt, and working it again or leaving it so. */
export function receiptPage(portal: PortalRoutes, context: PagesContext): void {
  const { receipts } = context.partners;
  const path = `${RECEIPTS_PATH}/:id`;
  portal.page(path, { scope, params, query }, async ({ person, reader, params, query }) => {
    const { start } = query;
    const receipt = await receipts.find(params.id);
    const claimed = await claimedAmong(context, receipt, start);
    const leads = { issueAddress: context.tracker.issueAddress, claimed };
    const statusAddress = statusAddressOf(context, receipt, reader);
    const { id, partnerId, eventType, receivedAt, status } = receipt;
    return {
      title: `Receipt ${shortId(id)}`,
      heading: html`Receipt ${code(shortId(id))}`,
      section: 'receipts',
      crumbs: [{ href: RECEIPTS_PATH, text: 'Receipts' }],
      badge: statusBadge(status, { fill: true }),
      meta: [
        html`${foreign(partnerId)}, ${foreign(eventType, 60)}`,
        html`Received ${time(receivedAt, reader)}`,
      ],
      body: receiptView({ receipt, person, leads, start, statusAddress }, reader),
    };
  });
  portal.action(`${path}/acknowledge`, {
    scope,
    params,
    run: async ({ params: { id }, origin }) => ({
      location: receiptPath(id),
      ...acknowledgedNotice(await receipts.acknowledge(id, origin)),
    }),
  });
  portal.action(`${path}/replay`, {
    scope,
    params,
    run: async ({ params: { id }, origin }) => ({
      location: receiptPath(id),
      ...replayNotice(await receipts.replay(id, origin)),
    }),
  });
}

/** What was acknowledged, or that there was nothing. */
function acknowledgedNotice(events: number): ActionNotice {
  return events > 0
    ? { notice: `${counted(events, 'event')} acknowledged: the overview speaks of it no more.` }
    : { isUndone: true, notice: 'There was nothing to acknowledge any more.' };
}

/** Which leads of the events that are shown a deletion hides now. */
async function claimedAmong(
  context: PagesContext,
  { events }: ReceiptDetail,
  start: number,
): Promise<ReadonlySet<string>> {
  const shown = events.slice(start, start + EVENTS_SHOWN);
  const numbers = new Set(shown.flatMap(({ leadIds }) => leadIds.slice(0, LEADS_LOOKED_AT_MAX)));
  const found = await Promise.all(
    [...numbers].map(async (number) => ((await findClaim(context, number)) ? [number] : [])),
  );
  return new Set(found.flat());
}

function statusAddressOf(
  { partners }: PagesContext,
  receipt: ReceiptDetail,
  { nowMs }: Reader,
): string | undefined {
  if (nowMs - receipt.receivedAt >= PAYLOAD_KEPT_MS) return undefined;
  return `/api/v1/receipt-status/${partners.statusTokenOf(receipt)}`;
}

const REASONS: Readonly<Record<NotQueuedReason, string>> = {
  pending: 'under way already',
  done: 'done',
  ignored: 'ignored',
  rejected: 'rejected',
  payloadDropped: 'cannot be worked again, their content was dropped after 30 days',
};

type ActionNotice = { notice: string; isUndone?: boolean };

/** What a replay did, or why it did nothing, in a sentence. */
export function replayNotice({ queued, notQueued = {} }: Replayed): ActionNotice {
  const left = Object.entries(notQueued) as [NotQueuedReason, number][];
  const rest = left.map(([reason, n]) => `${n} ${REASONS[reason]}`).join(', ');
  const others = rest === '' ? '' : ` Left as they are: ${rest}.`;
  if (queued > 0)
    return { notice: `${counted(queued, 'event')} queued: work begins now.${others}` };
  const why = rest === '' ? ': no event failed or found nobody.' : `.${others}`;
  return { isUndone: true, notice: `Nothing was replayed${why}` };
}

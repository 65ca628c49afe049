import { z } from 'zod';
import { PAYLOAD_KEPT_MS } from '#partners/receipts/purge-receipts.ts';
import type { ReceiptDetail } from '#partners/receipts/receipt.ts';
import type { NotQueuedReason, Replayed } from '#partners/receipts/replay-receipts.ts';
import { html } from '../../html.ts';
import type { PortalRoutes } from '../../routes/route-types.ts';
import { code, foreign } from '../../shell/parts.ts';
import { counted, time } from '../../shell/times.ts';
import { findClaim } from './claims.ts';
import { receiptPath, RECEIPTS_PATH } from './query.ts';
import { readerOf, type ReceiptPagesDeps, scope } from './receipt-deps.ts';
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
export function receiptPage(portal: PortalRoutes, deps: ReceiptPagesDeps): void {
  const { partners } = deps;
  portal.page(
    `${RECEIPTS_PATH}/:id`,
    { scope, params, query },
    async ({ person, params: { id }, query: { start } }) => {
      const receipt = await partners.receipts.find(id);
      const reader = readerOf(deps, person);
      const claimed = await claimedAmong(deps, receipt, start);
      const leads = { issueAddress: deps.issueAddress, claimed };
      const statusAddress = statusAddressOf(deps, receipt);
      const given = { receipt, person, leads, start, statusAddress };
      const { partnerId, eventType, receivedAt, status } = receipt;
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
        body: receiptView(given, reader),
      };
    },
  );
  portal.action(
    `${RECEIPTS_PATH}/:id/acknowledge`,
    { scope, params },
    async ({ params: { id }, origin }) => ({
      location: receiptPath(id),
      ...acknowledgedNotice(await partners.receipts.acknowledge(id, origin)),
    }),
  );
  portal.action(
    `${RECEIPTS_PATH}/:id/replay`,
    { scope, params },
    async ({ params: { id }, origin }) => ({
      location: receiptPath(id),
      ...replayNotice(await partners.receipts.replay(id, origin)),
    }),
  );
}

/** What was acknowledged, or that there was nothing. */
function acknowledgedNotice(events: number): ActionNotice {
  return events > 0
    ? { notice: `${counted(events, 'event')} acknowledged: the overview speaks of it no more.` }
    : { isUndone: true, notice: 'There was nothing to acknowledge any more.' };
}

/** Which leads of the events that are shown a deletion hides now. */
async function claimedAmong(
  deps: ReceiptPagesDeps,
  { events }: ReceiptDetail,
  start: number,
): Promise<ReadonlySet<string>> {
  const shown = events.slice(start, start + EVENTS_SHOWN);
  const numbers = new Set(shown.flatMap(({ leadIds }) => leadIds.slice(0, LEADS_LOOKED_AT_MAX)));
  const found = await Promise.all(
    [...numbers].map(async (number) => ((await findClaim(deps, number)) ? [number] : [])),
  );
  return new Set(found.flat());
}

function statusAddressOf(
  { partners, clock }: ReceiptPagesDeps,
  receipt: ReceiptDetail,
): string | undefined {
  if (clock.now() - receipt.receivedAt >= PAYLOAD_KEPT_MS) return undefined;
  return `/api/v1/receipt-status/${partners.statusTokenOf(receipt)}`;
}

const REASONS: Readonly<Record<NotQueuedReason, string>> = {
  pending: 'under way already',
  done: 'done',
  ignored: 'ignored',
  rejected: 'rejected',
  payloadDropped: 'cannot be worked again, what they said was dropped after 30 days',
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

/** One receipt: what became of its events, what of the persons is erased, and what to do. */
import { z } from 'zod';
import { STATUS_PATH } from '#http/routes/receipt-status.ts';
import type { Certificate } from '#partners/receipts/certificate.ts';
import { PAYLOAD_KEPT_MS } from '#partners/receipts/purge-receipts.ts';
import {
  erasures,
  type ReceiptDetail,
  type ReceiptEventDetail,
  leftFields,
} from '#partners/receipts/receipt.ts';
import { erasureGaps, erasureStates, receiptStates } from '#shared/outcomes/events.ts';
import type { PortalContext } from '../../context.ts';
import { startParameter, partPager } from '../../shell/list.ts';
import { html, type Html } from '../../html.ts';
import {
  withQuery,
  RECEIPTS_PATH,
  SECTIONS,
  partnerPath,
  receiptPath,
  receiptsPath,
} from '../../paths.ts';
import { action } from '../../routes/action-route.ts';
import { page } from '../../routes/page-route.ts';
import { body, card, facts, list, split } from '../../shell/card.ts';
import { badgeOf, code, cut, foreign, link, note, details } from '../../shell/elements.ts';
import { counted, type Viewer, time } from '../../shell/times.ts';
import { findClaim } from '../claims.ts';
import { holdUp } from '../overview/health-lines.ts';
import { eventCard } from './event-card.ts';
import { type ShownReceipt, eventWords, standingOf, verdict } from './receipt-verdict.ts';
import { type IssueAddress, issueLink, issueLinks, shortId, wordsLink } from './receipt-words.ts';
import { replayNotice } from './replay-page.ts';

/** Of one event: the others stand without what is known of them. */
const LEADS_LOOKED_AT_MAX = 10;

const { scope } = SECTIONS.receipts;
const PATH = `${RECEIPTS_PATH}/:id`;
const params = z.object({ id: z.string().max(64) });

/** `/portal/receipts/:id`: one receipt, and working it again or leaving it so. */
export const receiptPage = page({
  path: PATH,
  scope,
  params,
  query: z.strictObject({ start: startParameter }),
  show: async (context, { person, viewer, params: { id: given }, query: { start } }) => {
    const receipt = await context.partners.receipts.find(given);
    const claimed = await claimedAmong(context, receipt, start);
    const leads = { issueAddress: context.tracker.issueAddress, claimed };
    const statusAddress = statusAddressOf(context, receipt, viewer);
    const certificate = statusAddress && (await context.partners.readCertificate(receipt.id, ''));
    const isWaiting = receipt.events.some(({ outcome }) => outcome === 'PENDING');
    const hold = isWaiting ? await holdUp(context, viewer) : undefined;
    const { id, partnerId, eventType, receivedAt } = receipt;
    return {
      title: `Receipt ${shortId(id)}`,
      heading: html`Receipt ${code(shortId(id))}`,
      section: 'receipts',
      crumbs: [],
      badge: badgeOf(standingOf(receipt), { fill: true }),
      meta: [
        html`${foreign(partnerId)}, ${foreign(eventType, 60)}`,
        html`Received ${time(receivedAt, viewer)}`,
      ],
      body: receiptView(
        { receipt, person, leads, hold, start, statusAddress, ...(certificate && { certificate }) },
        viewer,
      ),
      isWaiting,
    };
  },
});

export const acknowledgeAction = action({
  path: `${PATH}/acknowledge`,
  scope,
  params,
  run: async ({ partners }, { params: { id }, origin }) => {
    const events = await partners.receipts.acknowledge(id, origin);
    const location = receiptPath(id);
    if (events === 0)
      return { location, isUndone: true, notice: 'There was nothing to acknowledge any more.' };
    const done = `${counted(events, 'event')} acknowledged: the overview speaks of it no more.`;
    return { location, notice: done };
  },
});

export const replayAction = action({
  path: `${PATH}/replay`,
  scope,
  params,
  run: async ({ partners }, { params: { id }, origin }) => ({
    location: receiptPath(id),
    ...replayNotice(await partners.receipts.replay(id, origin)),
  }),
});

/** Which leads of the events that are shown a deletion hides now. */
async function claimedAmong(
  context: PortalContext,
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
  { partners }: PortalContext,
  receipt: ReceiptDetail,
  { nowMs }: Viewer,
): string | undefined {
  if (nowMs - receipt.receivedAt >= PAYLOAD_KEPT_MS) return undefined;
  return `${STATUS_PATH}/${partners.statusTokenOf(receipt)}`;
}

/** Events on a page: more of a large batch are on the next. */
const EVENTS_SHOWN = 20;
const STEPS_SHOWN = 60;

/** Outcome, reasons, the next step, and what is erased and what is not. */
export function receiptView(given: ShownReceipt, viewer: Viewer): Html {
  const { path, events } = given.receipt;
  const erasure = path === 'deletions' && erasureCard(events, given.leads.issueAddress);
  const certificate = given.certificate && certificateCard(given.certificate);
  const beside = html`${erasure} ${certificate} ${deliveryCard(given, viewer)}`;
  return html`${verdict(given, viewer)} ${split(eventCards(given, viewer), beside)}`;
}

function eventCards(given: ShownReceipt, viewer: Viewer): Html {
  const { start } = given;
  const { id, events } = given.receipt;
  if (events.length === 0)
    return card(
      { id: 'no-events', heading: 'No event' },
      body(html`<p>The delivery was empty, or all of its events came before.</p>`),
    );
  const shown = fitting(events.slice(start, start + EVENTS_SHOWN));
  const part = { start, shown: shown.length, total: events.length };
  return html`${shown.map((event) => eventCard(event, given, viewer))}
  ${
    events.length > shown.length &&
    partPager('Events', part, (from) => withQuery(receiptPath(id), { start: from?.toString() }))
  }`;
}

/** A page is bounded, however much happened: at least one event, and of more only so many steps. */
function fitting(events: readonly ReceiptEventDetail[]): readonly ReceiptEventDetail[] {
  let steps = 0;
  const tooMany = events.findIndex(({ history }) => (steps += history.length) > STEPS_SHOWN);
  return tooMany === -1 ? events : events.slice(0, Math.max(1, tooMany));
}

function deliveryCard({ receipt, statusAddress }: ShownReceipt, viewer: Viewer): Html {
  const { id, partnerId, path, status, receivedAt, events, correlationId, externalId } = receipt;
  const all = receiptsPath({ partnerId });
  return card(
    { id: 'h-delivery', heading: 'Delivery' },
    body(
      facts([
        [
          'Partner',
          html`${link(partnerPath(partnerId), foreign(partnerId))} ${link(all, 'its receipts')}`,
        ],
        ['Sent to', path],
        ['Status', html`${badgeOf(receiptStates[status])} ${wordsLink()}`],
        ['Received', time(receivedAt, viewer)],
        ['Events', eventWords(events)],
        ['Receipt id', code(id)],
        ['Correlation', code(cut(correlationId))],
        ['External id', externalId && code(cut(externalId))],
        ['For the partner', statusAddress && statusLink(statusAddress, receivedAt, viewer)],
      ]),
    ),
  );
}

function statusLink(address: string, receivedAt: number, viewer: Viewer): Html {
  const until = time(receivedAt + PAYLOAD_KEPT_MS, viewer, 'day');
  return html`${link(address, 'Status address')} ${note('no credential needed, until ', until)}`;
}

const HISTORIES_MAX = 5;

const ERASURES = { ...erasureStates, ...erasureGaps };

type Kind = keyof typeof ERASURES;

/** Says what of the persons' data is erased, and what is still there. */
function erasureCard(
  events: readonly ReceiptEventDetail[],
  issueAddress: IssueAddress,
): Html | undefined {
  const matched = events.filter(({ leadIds }) => leadIds.length > 0);
  if (matched.length === 0) return undefined;
  const parts = (['open', 'fields', ...erasures.toReversed(), 'none'] as const).flatMap((kind) => {
    const leadIds = matched.filter((event) => kindOf(event) === kind).flatMap((one) => one.leadIds);
    return leadIds.length === 0 ? [] : [part(kind, [...new Set(leadIds)], issueAddress)];
  });
  return card({ id: 'h-erasure', heading: 'Erasure' }, body(parts, beyondReach()));
}

function kindOf(event: ReceiptEventDetail): Kind {
  const { outcome, erasure } = event;
  if (leftFields(event)) return 'fields';
  if (erasure !== undefined) return erasure;
  return outcome === 'DONE' ? 'none' : 'open';
}

function part(kind: Kind, leadIds: readonly string[], issueAddress: IssueAddress): Html {
  return html`<p>${badgeOf(ERASURES[kind], { fill: true })}</p>
    ${explanation(kind, leadIds, issueAddress)}`;
}

function explanation(kind: Kind, leadIds: readonly string[], issueAddress: IssueAddress): Html {
  const issues = issueLinks(leadIds, issueAddress);
  switch (kind) {
    case 'complete':
      return html`<p>${issues} ${leadIds.length === 1 ? 'is' : 'are'} deleted on the tracker.</p>`;
    case 'incomplete-history':
      return html`<p>
          Title and body of ${issues} are replaced.
          <b>The old text is still in each issue’s edit history</b>, where only a person can take it
          out, one revision at a time.
        </p>
        ${list(
          ...leadIds
            .slice(0, HISTORIES_MAX)
            .map((number) => html`History of ${issueLink(number, issueAddress)}`),
        )}`;
    case 'impossible':
      return html`<p>
        ${issues} was to be deleted, and the credential may not: the other actions were done
        instead. What the issue said <b>is still on the tracker</b>, in its history at least.
      </p>`;
    case 'fields':
      return html`<p>
        <b>What the typed fields of ${issues} hold is still on the tracker</b>: the credential may
        not clear them. The rest was done. Clear them there, and give the credential the right to
        push.
      </p>`;
    case 'none':
      return html`<p>
        ${issues}: this partner’s deletions neither replace nor delete,
        <b>title and body are still on the tracker</b>.
      </p>`;
    case 'open':
      return html`<p>${issues}: nothing is known to be erased until the event is done.</p>`;
  }
}

function beyondReach(): Html {
  return details(
    'What no deletion here can reach',
    list(
      'e-mails that the tracker sent when the issue was opened',
      'copies that other consumers made; they learn of it from the lead feed',
      'comments that people wrote',
      'backups',
    ),
  );
}

/** `/portal/receipts/:id/certificate`: the file that a partner files. */
export const certificateFile = page({
  path: `${RECEIPTS_PATH}/:id/certificate`,
  scope: SECTIONS.receipts.scope,
  params: z.object({ id: z.string().max(64) }),
  show: async ({ partners, publicUrl }, { params: { id } }) => {
    const receipt = await partners.receipts.find(id);
    const certificate = await partners.readCertificate(receipt.id, publicUrl());
    const content = certificate ? await partners.certificates.sign(certificate.claims) : '';
    return { fileName: `receipt-${receipt.id}.jwt`, mediaType: 'application/jwt', content };
  },
});

/** Certificate for a partner to file, and the consumers of the lead feed that were not sent the removal yet. */
export function certificateCard({ claims, behind }: Certificate): Html {
  const readers = claims.events.flatMap((event) => event.readers ?? []);
  const isOpen = claims.events.some(({ outcome }) => outcome === 'PENDING');
  return card(
    { id: 'h-certificate', heading: 'Certificate' },
    body(
      html`<p>
        ${link(receiptPath(claims.jti, 'certificate'), 'Download certificate', {
          look: 'button',
          download: true,
        })}
      </p>`,
      note(
        isOpen
          ? 'It says that work is still under way: a later one says how it ended.'
          : 'Signed: anybody can check it, offline.',
      ),
      readers.length > 0 &&
        readersView(behind, { isFollowed: readers.some((one) => one.following > 0) }),
    ),
  );
}

function readersView(behind: readonly string[], { isFollowed }: { isFollowed: boolean }): Html {
  if (!isFollowed) return html`<p>No consumer that could read a lead follows the lead feed.</p>`;
  if (behind.length === 0)
    return html`<p>
      Every consumer that follows the lead feed, and could read a lead, has read past its removal.
    </p>`;
  return html`<p>
      ${counted(
        behind.length,
        'consumer that could read a lead and follows the lead feed has',
        'consumers that could read a lead and follow the lead feed have',
      )}
      not read past its removal:
    </p>
    ${list(...behind.map((name) => foreign(name)))}`;
}

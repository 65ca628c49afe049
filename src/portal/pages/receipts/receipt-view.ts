import type { AuditEntryOut } from '#access/audit/audit-out.ts';
import { PAYLOAD_KEPT_MS } from '#partners/receipts/purge-receipts.ts';
import type { ReceiptDetail } from '#partners/receipts/receipt.ts';
import type { PortalPerson } from '../../person.ts';
import { partnerPath } from '../partners/query.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { body, card, facts, split } from '../../shell/card.ts';
import { code, cut, foreign, link, note, shortId } from '../../shell/parts.ts';
import { pager, table } from '../../shell/table.ts';
import { count, time } from '../../shell/times.ts';
import type { Reader } from '../../shell/times.ts';
import { erasureCard } from './erasure-card.ts';
import { eventCard } from './event-card.ts';
import type { Leads } from './leads.ts';
import { receiptPath, receiptsPath } from './query.ts';
import { eventWords, verdict } from './verdict.ts';
import { statusBadge } from './words.ts';

export type ReceiptFacts = {
  receipt: ReceiptDetail;
  person: PortalPerson;
  leads: Leads;
  /** How many events stand before the first that is shown. */
  start: number;
  /** What operators did to it, newest first. */
  entries: readonly AuditEntryOut[];
  /** For the partner; undefined once it is too old. */
  statusAddress?: string | undefined;
};

/** Events on a page: more of a large batch are on the next. */
export const EVENTS_SHOWN = 20;

/** What became of it, why, what to do now, and what is erased and what is not. */
export function receiptView(given: ReceiptFacts, reader: Reader): Html {
  const { receipt, person, leads } = given;
  const { issueAddress } = leads;
  const beside = html`${erasureCard(receipt.events, issueAddress)} ${deliveryCard(given, reader)}
  ${auditCard(given, reader)}`;
  return html`${verdict({ receipt, person, issueAddress }, reader)}
  ${split(eventCards(given, reader), beside)}`;
}

function eventCards({ receipt, leads, start }: ReceiptFacts, reader: Reader): Html {
  const { id, events } = receipt;
  if (events.length === 0)
    return card(
      { id: 'no-events', heading: 'No event' },
      body(html`<p>The delivery was empty, or all of its events came before.</p>`),
    );
  const shown = events.slice(start, start + EVENTS_SHOWN);
  const end = start + shown.length;
  const at = (from: number): string =>
    from === 0 ? receiptPath(id) : `${receiptPath(id)}?start=${from}`;
  return html`${shown.map((event) => eventCard({ event, receipt, leads }, reader))}
  ${
    events.length > EVENTS_SHOWN &&
    pager({
      summary: `Events ${count(start + 1)} to ${count(end)} of ${count(events.length)}`,
      words: { newest: 'First', older: 'Next' },
      ...(start > 0 && { newest: at(0) }),
      ...(end < events.length && { older: at(end) }),
    })
  }`;
}

function deliveryCard({ receipt, statusAddress }: ReceiptFacts, reader: Reader): Html {
  const { id, partnerId, path, status, receivedAt, events, correlationId, externalId } = receipt;
  const all = receiptsPath({ partnerId });
  return card(
    { id: 'h-delivery', heading: 'Delivery' },
    body(
      facts([
        {
          term: 'Partner',
          value: html`${link({ href: partnerPath(partnerId), text: foreign(partnerId) })}
          ${link({ href: all, text: 'its receipts' })}`,
        },
        { term: 'Sent to', value: path },
        { term: 'Status', value: statusBadge(status) },
        { term: 'Received', value: time(receivedAt, reader) },
        { term: 'Events', value: eventWords(events) },
        { term: 'Receipt id', value: code(id) },
        { term: 'Correlation', value: code(cut(correlationId)) },
        externalId === undefined
          ? undefined
          : { term: 'External id', value: code(cut(externalId)) },
        statusAddress === undefined
          ? undefined
          : {
              term: 'For the partner',
              value: html`${link({ href: statusAddress, text: 'Status address' })}
              ${note('no credential needed, until ', time(receivedAt + PAYLOAD_KEPT_MS, reader, 'day'))}`,
            },
      ]),
    ),
  );
}

function auditCard({ receipt, entries }: ReceiptFacts, reader: Reader): Html | undefined {
  if (entries.length === 0) return undefined;
  const all = `/portal/audit?on=${encodeURIComponent(`receipt/${receipt.id}`)}`;
  return card(
    { id: 'h-audit', heading: 'Audit', aside: link({ href: all, text: 'All' }) },
    table<AuditEntryOut>({
      caption: 'What was done to it, newest first',
      rows: entries,
      columns: [
        { label: 'When', kind: 'whole', cell: ({ at }) => time(Date.parse(at), reader) },
        { label: 'What', cell: ({ action }) => code(action) },
        { label: 'Who', cell: ({ actor }) => foreign(actor.subject, 60) },
        { label: 'Request', cell: ({ requestId }) => requestId && shortId(requestId) },
      ],
    }),
  );
}

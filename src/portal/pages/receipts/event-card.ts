import { PAYLOAD_KEPT_MS } from '#partners/receipts/purge-receipts.ts';
import type { EventNote, ReceiptDetail, ReceiptEventDetail } from '#partners/receipts/receipt.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { body, card, row } from '../../shell/card.ts';
import { code, cut, foreign, link, note } from '../../shell/parts.ts';
import { timeline } from '../../shell/texts.ts';
import type { Moment } from '../../shell/texts.ts';
import { count, counted, time } from '../../shell/times.ts';
import type { Reader } from '../../shell/times.ts';
import { claimPath, issueLink, issueLinks } from './leads.ts';
import type { Leads } from './leads.ts';
import { remedyOf } from './remedies.ts';
import { outcomeBadge } from './words.ts';

const TYPE_CHARACTERS_MAX = 60;
const ID_CHARACTERS_MAX = 120;
const LEADS_MAX = 10;

export type EventFacts = {
  event: ReceiptEventDetail;
  receipt: Pick<ReceiptDetail, 'receivedAt' | 'eventType'>;
  leads: Leads;
};

/** One event: how it ended, and what happened one after the other. */
export function eventCard(given: EventFacts, reader: Reader): Html {
  const { event, receipt, leads } = given;
  const { position, outcome, leadIds } = event;
  const { eventType = receipt.eventType === 'batch' ? 'no type' : receipt.eventType } = event;
  const name = `event-${position + 1}`;
  const issues =
    leadIds.length > 0
      ? html`${note(leadIds.length === 1 ? 'Issue' : 'Issues')}
        ${issueLinks(leadIds.slice(0, 3), leads.issueAddress)}
        ${leadIds.length > 3 && ` and ${leadIds.length - 3} more`}`
      : undefined;
  return card(
    {
      id: name,
      heading: html`Event ${position + 1}: ${foreign(eventType, TYPE_CHARACTERS_MAX)}`,
      aside: row(issues, outcomeBadge(outcome, { fill: true })),
      element: 'article',
    },
    body(
      identifiers(event),
      timeline(
        `What became of event ${position + 1}`,
        moments(given, reader).filter((moment) => moment !== undefined),
      ),
    ),
  );
}

function identifiers({ eventId, externalId }: ReceiptEventDetail): Html | undefined {
  const given = [
    eventId === undefined ? undefined : html`Event id ${code(cut(eventId, ID_CHARACTERS_MAX))}`,
    externalId === undefined
      ? undefined
      : html`External id ${code(cut(externalId, ID_CHARACTERS_MAX))}`,
  ].filter((part) => part !== undefined);
  if (given.length === 0) return undefined;
  return html`<p class="note">${given.map((part, at) => html`${at > 0 && ' · '}${part}`)}</p>`;
}

function moments(given: EventFacts, reader: Reader): (Moment | undefined)[] {
  const { event, receipt } = given;
  return [
    { state: 'ok', heading: 'Accepted', at: time(receipt.receivedAt, reader) },
    matched(given),
    noted(event),
    attempted(event),
    ended(event, reader),
    awaited(event, reader),
  ];
}

function matched({ event, leads }: EventFacts): Moment | undefined {
  const { leadIds, outcome } = event;
  if (leadIds.length === 0)
    return outcome === 'PENDING'
      ? { state: 'wait', heading: 'Looking for whom it names', content: html`<p>No lead yet.</p>` }
      : undefined;
  const shown = leadIds.slice(0, LEADS_MAX);
  const lines = shown.map((number) => html`<li>${leadLine(number, leads)}</li>`);
  const more = leadIds.length - shown.length;
  return {
    state: 'ok',
    heading: `Matched ${counted(leadIds.length, 'lead')}`,
    content: html`<ul class="list">
      ${lines}${more > 0 && html`<li>and ${count(more)} more</li>`}
    </ul>`,
  };
}

function leadLine(number: string, { issueAddress, claimed }: Leads): Html {
  const issue = issueLink(number, issueAddress);
  if (!claimed.has(number))
    return html`${issue}: no deletion hides it now;
    ${link({ href: claimPath(number), text: 'why', more: `nothing hides lead ${number}` })}`;
  const release = link({
    href: claimPath(number, 'release'),
    text: 'Release…',
    more: `lead ${number}`,
  });
  return html`${issue}: no reader sees it. Wrong match? ${release}`;
}

const NOTES: Readonly<Record<EventNote, { heading: string; text: string }>> = {
  'event-id-reused': {
    heading: 'Its id came before with another person',
    text: 'It was taken as an event of its own. Tell the partner.',
  },
  'lead-id-conflict': {
    heading: 'The lead that it names belongs to somebody else',
    text: 'Or got its number after the event came. It was left alone: the person decides.',
  },
  'claim-released': {
    heading: 'An operator gave a lead back',
    text: 'Readers see it again once it is approved and does not carry the deleted label; this event leaves it alone.',
  },
};

function noted({ note: noteOf }: ReceiptEventDetail): Moment | undefined {
  if (noteOf === undefined) return undefined;
  const { heading, text } = NOTES[noteOf];
  return { state: 'warn', heading, content: html`<p>${text}</p>` };
}

/** What is stored of the attempts: how many, and why the last one that failed did. */
function attempted({ outcome, attempts, lastError }: ReceiptEventDetail): Moment | undefined {
  const failed = outcome === 'DONE' ? attempts - 1 : attempts;
  if (failed <= 0 || outcome === 'UNMATCHED') return undefined;
  const heading =
    failed === 1 ? 'Attempt 1 failed' : `Attempts 1 to ${count(failed)} failed, the last with`;
  if (lastError === undefined) {
    const words = outcome === 'PENDING' ? 'no lead was found' : 'why is not stored';
    return { state: 'bad', heading: `${counted(failed, 'attempt')} so far: ${words}` };
  }
  return {
    state: 'bad',
    heading: html`${failed === 1 ? `${heading}:` : heading} ${code(cut(lastError, 60))}`,
    content: html`<p>${remedyOf(lastError).means}.</p>`,
  };
}

function ended(event: ReceiptEventDetail, reader: Reader): Moment | undefined {
  const { outcome, completedAt, attempts, lastError } = event;
  const at = completedAt === undefined ? {} : { at: time(completedAt, reader) };
  const why = lastError === undefined ? undefined : html`<p>${remedyOf(lastError).means}.</p>`;
  switch (outcome) {
    case 'PENDING':
      return undefined;
    case 'DONE':
      return {
        state: 'ok',
        heading: attempts === 1 ? 'Done at once' : `Done at attempt ${count(attempts)}`,
        content: html`<p>Looked at again and found so. What it said was dropped.</p>`,
        ...at,
      };
    case 'FAILED':
      return {
        state: 'bad',
        heading: 'Now a dead letter',
        content: html`<p>Nothing more happens by itself.</p>`,
        ...at,
      };
    case 'UNMATCHED':
      return {
        state: 'warn',
        heading:
          lastError === undefined
            ? `Names nobody we know, after ${counted(attempts, 'look')}`
            : 'Its lead was given back',
        content: html`<p>Replay when the lead turns up, or let it rest.</p>`,
        ...at,
      };
    case 'REJECTED':
      return { state: 'odd', heading: 'Cannot be used', content: why, ...at };
    case 'IGNORED':
      return {
        state: 'mute',
        heading: 'Nothing to do',
        content: html`<p>No rule of the configuration is for it.</p>`,
        ...at,
      };
  }
}

function awaited(event: ReceiptEventDetail, reader: Reader): Moment | undefined {
  const { outcome, dueAt, isReplayable, completedAt = 0 } = event;
  if (dueAt !== undefined)
    return dueAt > reader.nowMs
      ? { state: 'wait', heading: 'Next attempt', at: time(dueAt, reader) }
      : { state: 'wait', heading: 'It is the next to be worked on', at: time(dueAt, reader) };
  if (outcome !== 'FAILED' && outcome !== 'UNMATCHED') return undefined;
  if (!isReplayable)
    return {
      state: 'mute',
      heading: 'Can be replayed no more',
      content: html`<p>
        What it said was dropped after 30 days: the partner has to send it again.
      </p>`,
    };
  return {
    state: 'mute',
    heading: 'Can be replayed until then',
    at: time(completedAt + PAYLOAD_KEPT_MS, reader, 'day'),
    content: html`<p>What it said is kept encrypted for that, then dropped.</p>`,
  };
}

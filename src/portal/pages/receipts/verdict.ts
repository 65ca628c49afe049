import type { Outcome, ReceiptDetail, ReceiptEventDetail } from '#partners/receipts/receipt.ts';
import type { PortalPerson } from '../../person.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { actionButton } from '../../shell/forms.ts';
import { notice } from '../../shell/notice.ts';
import { link } from '../../shell/parts.ts';
import { counted, time } from '../../shell/times.ts';
import type { Reader } from '../../shell/times.ts';
import type { IssueAddress } from './leads.ts';
import { receiptPath } from './query.ts';
import { remedyOf } from './remedies.ts';
import { countWords } from './words.ts';

export type VerdictFacts = {
  receipt: ReceiptDetail;
  person: PortalPerson;
  issueAddress: IssueAddress;
};

/** How many events of a receipt have each outcome. */
function countOutcomes(events: readonly ReceiptEventDetail[]): Partial<Record<Outcome, number>> {
  const counts: Partial<Record<Outcome, number>> = {};
  for (const { outcome } of events) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

/** What is so, and the next step beside it. */
export function verdict(given: VerdictFacts, reader: Reader): Html {
  switch (given.receipt.status) {
    case 'ACCEPTED':
      return underWay(given, reader);
    case 'PROCESSED':
      return notice({
        state: 'ok',
        id: 'verdict',
        heading: 'Nothing to do',
        text: 'All of it ended as it should.',
      });
    case 'UNMATCHED':
      return nobodyFound(given);
    case 'FAILED':
      return deadLetters(given);
  }
}

function underWay({ receipt: { events } }: VerdictFacts, reader: Reader): Html {
  const waiting = events.filter(({ outcome }) => outcome === 'PENDING');
  const next = Math.min(...waiting.flatMap(({ dueAt }) => dueAt ?? []));
  const error = waiting.find(({ lastError }) => lastError !== undefined)?.lastError;
  const when =
    next > reader.nowMs ? html`Next attempt: ${time(next, reader)}.` : 'Reload to see it end.';
  return notice({
    state: 'wait',
    id: 'verdict',
    heading: `${counted(waiting.length, 'event')} under way`,
    text: html`${error === 'partner-unknown' ? `${remedyOf(error).step}.` : 'Nothing to do: failed attempts are repeated by themselves.'}
    ${error !== undefined && `${remedyOf(error).means}.`} ${when}`,
  });
}

function nobodyFound({ receipt, person }: VerdictFacts): Html {
  const { UNMATCHED = 0, REJECTED = 0 } = countOutcomes(receipt.events);
  const rejected = receipt.events.find(({ outcome }) => outcome === 'REJECTED')?.lastError;
  const what =
    UNMATCHED > 0
      ? 'It names nobody we know. Replay when the lead turns up, or let it rest: a lead that comes later is not hidden by it.'
      : remedyOf(rejected ?? '').step;
  const because = UNMATCHED > 0 ? 'found nobody' : 'could not be used';
  return notice({
    state: 'warn',
    id: 'verdict',
    heading: `${counted(UNMATCHED || REJECTED, 'event')} ${because}`,
    text: what,
    ...replayAction(receipt, person),
  });
}

function deadLetters({ receipt, person, issueAddress }: VerdictFacts): Html {
  const failed = receipt.events.filter(({ outcome }) => outcome === 'FAILED');
  const [first] = failed;
  const { step, means } = remedyOf(first?.lastError ?? '');
  const [number] = first?.leadIds ?? [];
  const href = number === undefined ? undefined : issueAddress(number);
  const replay = replayAction(receipt, person).actions;
  const open = href && link({ href, text: `Open #${number}`, look: 'button' });
  const others = failed.length > 1 ? ` So ended the first of ${failed.length} events.` : '';
  const harmless =
    replay === undefined
      ? 'What it said was dropped after 30 days: it cannot be replayed.'
      : 'Replaying starts what failed or found nobody anew; it is harmless for issues that are already as they should be.';
  return notice({
    state: 'bad',
    id: 'verdict',
    heading: step,
    text: html`${means}.${others} ${harmless}`,
    actions: html`${open} ${replay}`,
  });
}

function replayAction(receipt: ReceiptDetail, person: PortalPerson): { actions?: Html } {
  const replayable = receipt.events.filter(({ isReplayable }) => isReplayable).length;
  if (replayable === 0) return {};
  const text = `Replay ${counted(replayable, 'event')}`;
  const action = receiptPath(receipt.id, 'replay');
  return { actions: actionButton({ action, person, text, look: 'primary' }) };
}

/** `3: 1 failed, 2 done`. */
export function eventWords(events: readonly ReceiptEventDetail[]): string {
  const words = countWords(countOutcomes(events));
  return events.length > 1 ? `${events.length}: ${words}` : words || 'none';
}

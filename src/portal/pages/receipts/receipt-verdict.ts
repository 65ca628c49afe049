import type { Certificate } from '#partners/receipts/certificate.ts';
import {
  type Outcome,
  type ReceiptDetail,
  type ReceiptEventDetail,
  leftFields,
} from '#partners/receipts/receipt.ts';
import type { Standing } from '#shared/outcomes/entry.ts';
import { eventOutcomes, outcomeNeeds } from '#shared/outcomes/events.ts';
import { html, type Html } from '../../html.ts';
import type { PortalPerson } from '../../page.ts';
import { receiptPath } from '../../paths.ts';
import { link } from '../../shell/elements.ts';
import { actionButton } from '../../shell/forms.ts';
import { notice } from '../../shell/card.ts';
import { count, counted, type Viewer, time } from '../../shell/times.ts';
import { countWords, remedyOf, adviceFor, type IssueAddress } from './receipt-words.ts';

/** Leads of a page. */
export type Leads = {
  issueAddress: IssueAddress;
  /** Numbers of those that a deletion hides now. */
  claimed: ReadonlySet<string>;
};

/** A receipt as its page shows it. */
export type ShownReceipt = {
  receipt: ReceiptDetail;
  person: PortalPerson;
  leads: Leads;
  /** Why nothing that is under way gets done now. */
  hold?: Html | undefined;
  /** Number of events before the first that is shown. */
  start: number;
  /** For the partner; undefined once it is too old. */
  statusAddress?: string;
  /** As long as that is not. */
  certificate?: Certificate;
};

/** Issues of dead letters that a button leads to. */
const ISSUES_MAX = 3;

function countOutcomes(events: readonly ReceiptEventDetail[]): Partial<Record<Outcome, number>> {
  const counts: Partial<Record<Outcome, number>> = {};
  for (const { outcome } of events) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

/** The events that still need somebody, or are under way, by outcome. */
function openOf({ events }: Pick<ReceiptDetail, 'events'>) {
  const of = (outcome: Outcome) =>
    events.filter((one) => one.outcome === outcome && one.acknowledgedAt === undefined);
  return {
    failed: of('FAILED'),
    unmatched: of('UNMATCHED'),
    rejected: of('REJECTED'),
    pending: of('PENDING'),
  };
}

/** The verdict in a word, beside the heading: what was acknowledged needs nobody. */
export function standingOf(receipt: Pick<ReceiptDetail, 'events'>): Standing {
  const { failed, unmatched, rejected, pending } = openOf(receipt);
  if (failed.length > 0) return eventOutcomes.FAILED;
  if (unmatched.length > 0) return eventOutcomes.UNMATCHED;
  if (rejected.length > 0) return { ...eventOutcomes.REJECTED, urgency: 'warn' };
  if (pending.length > 0) return eventOutcomes.PENDING;
  const isAcknowledged = receipt.events.some((one) => one.acknowledgedAt !== undefined);
  return isAcknowledged ? { urgency: 'ok', title: 'Acknowledged' } : eventOutcomes.DONE;
}

/** The verdict with its next step: what needs a person comes before what is under way. */
export function verdict(given: ShownReceipt, viewer: Viewer): Html {
  const { events } = given.receipt;
  const { failed, unmatched, rejected, pending } = openOf(given.receipt);
  const waiting = underWay(pending, given.hold, viewer);
  if (failed[0]) return deadLetters(given, failed, waiting);
  if (unmatched[0] ?? rejected[0]) return cameToNothing(given, { unmatched, rejected }, waiting);
  if (waiting) return notice({ state: 'wait', id: 'verdict', ...waiting });
  return notice({
    state: 'ok',
    id: 'verdict',
    heading: 'Nothing to do',
    text: settledWords(events),
    ...replayAction(given),
  });
}

function settledWords(events: readonly ReceiptEventDetail[]): string {
  const acknowledged = events.filter((one) => one.acknowledgedAt !== undefined).length;
  const words = [
    acknowledged > 0 &&
      `${counted(acknowledged, 'event')} came to nothing, and that was acknowledged.`,
    events.some(({ note }) => note === 'claim-released') &&
      'An operator gave a lead back: if that was wrong, the partner has to send the deletion anew.',
    events.some(leftFields) && `${remedyOf('fields-remain').means}: clear them by hand.`,
  ].filter((one) => one !== false);
  return words.length > 0 ? words.join(' ') : 'All of it ended as it should.';
}

type UnderWay = { heading: string; text: Html };

function underWay(
  waiting: readonly ReceiptEventDetail[],
  hold: Html | undefined,
  viewer: Viewer,
): UnderWay | undefined {
  if (waiting.length === 0) return undefined;
  const next = Math.min(...waiting.flatMap(({ dueAt }) => dueAt ?? []));
  const when =
    next > viewer.nowMs ? html`Next attempt: ${time(next, viewer)}.` : 'It is worked on now.';
  return {
    heading: `${counted(waiting.length, 'event')} under way`,
    text: hold ?? html`${whyWaiting(waiting)} ${when}`,
  };
}

function whyWaiting(waiting: readonly ReceiptEventDetail[]): string {
  const error = waiting.find(({ lastError }) => lastError !== undefined)?.lastError;
  if (error !== undefined) {
    const { step, means } = remedyOf(error);
    const first = error === 'partner-unknown' ? step : 'Failed attempts are repeated by themselves';
    return `${first}. ${means}.`;
  }
  const isMissed = waiting.every(({ history }) => history.at(-1)?.what === 'missed');
  return isMissed
    ? 'Nobody was found yet. The tracker may show a lead late, so it is looked for once more.'
    : '';
}

/** Text behind a verdict that is about other events. */
function besides(waiting: UnderWay | undefined): Html | undefined {
  return waiting && html`${waiting.heading}. ${waiting.text}`;
}

function cameToNothing(
  given: ShownReceipt,
  { unmatched, rejected }: Record<'unmatched' | 'rejected', readonly ReceiptEventDetail[]>,
  waiting: UnderWay | undefined,
): Html {
  const { receipt, person } = given;
  const [first] = unmatched;
  const what = first
    ? html`${adviceFor(first, receipt.partnerId)} ${outcomeNeeds.UNMATCHED.next}: a lead that comes
      later is not hidden by it.`
    : html`${remedyOf(rejected[0]?.lastError ?? '').step}.`;
  const text = `Acknowledge ${counted(unmatched.length + rejected.length, 'event')}`;
  const action = receiptPath(receipt.id, 'acknowledge');
  return notice({
    state: 'warn',
    id: 'verdict',
    heading: first
      ? `${counted(unmatched.length, 'event')} ${outcomeNeeds.UNMATCHED.many}`
      : `${counted(rejected.length, 'event')} ${outcomeNeeds.REJECTED.many}`,
    text: html`${what} ${besides(waiting)}`,
    actions: html`${replayAction(given).actions} ${actionButton({ action, person, text })}`,
  });
}

function deadLetters(
  given: ShownReceipt,
  failed: readonly ReceiptEventDetail[],
  waiting: UnderWay | undefined,
): Html {
  const { step, means } = remedyOf(failed[0]?.lastError ?? '');
  const numbers = [...new Set(failed.flatMap(({ leadIds }) => leadIds))].slice(0, ISSUES_MAX);
  const open = numbers.map((number) => {
    const href = given.leads.issueAddress(number);
    return href && html`${link(href, `Open #${number}`, { look: 'button' })} `;
  });
  const { actions } = replayAction(given);
  const others =
    failed.length > 1 ? ` So ended the first of ${counted(failed.length, 'event')}.` : '';
  const harmless =
    actions === undefined
      ? 'Its content was dropped after 30 days: it cannot be replayed.'
      : 'Replaying starts what failed or found nobody anew; it is harmless for issues that are already as they should be.';
  return notice({
    state: 'bad',
    id: 'verdict',
    heading: step,
    text: html`${means}.${others} ${harmless} ${besides(waiting)}`,
    actions: html`${open} ${actions}`,
  });
}

function replayAction({ receipt, person }: ShownReceipt): { actions?: Html } {
  const replayable = receipt.events.filter(({ isReplayable }) => isReplayable).length;
  if (replayable === 0) return {};
  const text = `Replay ${counted(replayable, 'event')}`;
  const action = receiptPath(receipt.id, 'replay');
  return { actions: actionButton({ action, person, text, look: 'primary' }) };
}

/** `3: 1 failed, 2 done`. */
export function eventWords(events: readonly ReceiptEventDetail[]): string {
  const words = countWords(countOutcomes(events));
  return events.length > 1 ? `${count(events.length)}: ${words}` : words || 'none';
}

import type { Outcome, ReceiptEventDetail } from '#partners/receipts/receipt.ts';
import { html, type Html } from '../../html.ts';
import { actionButton } from '../../shell/forms.ts';
import { notice } from '../../shell/notice.ts';
import { link } from '../../shell/parts.ts';
import { count, counted, type Reader, time } from '../../shell/times.ts';
import { countWords, type ReceiptFacts } from './words.ts';
import { receiptPath } from './query.ts';
import { adviceFor, remedyOf } from './remedies.ts';

/** Issues of dead letters that a button leads to. */
const ISSUES_MAX = 3;

/** How many events of a receipt have each outcome. */
function countOutcomes(events: readonly ReceiptEventDetail[]): Partial<Record<Outcome, number>> {
  const counts: Partial<Record<Outcome, number>> = {};
  for (const { outcome } of events) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

/** What is so, and the next step beside it: what needs a person comes before what is under way. */
export function verdict(given: ReceiptFacts, reader: Reader): Html {
  const { events } = given.receipt;
  const of = (outcome: Outcome) =>
    events.filter((one) => one.outcome === outcome && one.acknowledgedAt === undefined);
  const [failed, unmatched, rejected] = [of('FAILED'), of('UNMATCHED'), of('REJECTED')];
  const waiting = underWay(of('PENDING'), reader);
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
  ].filter((one) => one !== false);
  return words.length > 0 ? words.join(' ') : 'All of it ended as it should.';
}

type UnderWay = { heading: string; text: Html };

function underWay(waiting: readonly ReceiptEventDetail[], reader: Reader): UnderWay | undefined {
  if (waiting.length === 0) return undefined;
  const next = Math.min(...waiting.flatMap(({ dueAt }) => dueAt ?? []));
  const error = waiting.find(({ lastError }) => lastError !== undefined)?.lastError;
  const when =
    next > reader.nowMs ? html`Next attempt: ${time(next, reader)}.` : 'Reload to see it end.';
  return {
    heading: `${counted(waiting.length, 'event')} under way`,
    text: html`${error === 'partner-unknown' ? `${remedyOf(error).step}.` : 'Failed attempts are repeated by themselves.'}
    ${error !== undefined && `${remedyOf(error).means}.`} ${when}`,
  };
}

/** What stands behind a verdict that is about other events. */
function besides(waiting: UnderWay | undefined): Html | undefined {
  return waiting && html`${waiting.heading}. ${waiting.text}`;
}

function cameToNothing(
  given: ReceiptFacts,
  { unmatched, rejected }: Record<'unmatched' | 'rejected', readonly ReceiptEventDetail[]>,
  waiting: UnderWay | undefined,
): Html {
  const { receipt, person } = given;
  const [first] = unmatched;
  const what = first
    ? html`${adviceFor(first, receipt.partnerId)} Replay when the lead turns up, or acknowledge it:
      a lead that comes later is not hidden by it.`
    : html`${remedyOf(rejected[0]?.lastError ?? '').step}.`;
  const text = `Acknowledge ${counted(unmatched.length + rejected.length, 'event')}`;
  const action = receiptPath(receipt.id, 'acknowledge');
  return notice({
    state: 'warn',
    id: 'verdict',
    heading: first
      ? `${counted(unmatched.length, 'event')} found nobody`
      : `${counted(rejected.length, 'event')} could not be used`,
    text: html`${what} ${besides(waiting)}`,
    actions: html`${replayAction(given).actions} ${actionButton({ action, person, text })}`,
  });
}

function deadLetters(
  given: ReceiptFacts,
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

function replayAction({ receipt, person }: ReceiptFacts): { actions?: Html } {
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

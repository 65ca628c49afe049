import type { RecentOutcomes } from '#partners/receipts/outcomes/outcome-reader.ts';
import type { ReceiptDetailOut } from '#partners/receipts/receipt-out.ts';
import { DAY, HOUR } from '#shared/clock.ts';
import { html, type Html, type HtmlValue } from '../../html.ts';
import { badge, code, foreign, link, note, type State } from '../../shell/parts.ts';
import { ago, count, counted, duration, type Reader, time } from '../../shell/times.ts';
import { receiptPath, receiptsPath } from '../receipts/query.ts';
import { adviceFor, remedyOf } from '../receipts/remedies.ts';
import { OUTCOME_WORDS } from '../receipts/words.ts';
import type { HealthLine } from './health-lines.ts';
import { type Consumer, type Key, keyStateAt } from '#access/consumers/consumer.ts';
import type { PartnerSummary } from '#partners/list-partners.ts';
import { consumerPath, consumersPath } from '../consumers/query.ts';
import { KEY_ENDS_SOON_MS } from '../consumers/words.ts';
import { partnerPath, PARTNERS_PATH, verdictOf } from '../partners/verdict.ts';

/** What waits and what did not end well: for those who may see receipts. */
export type Operation = {
  /** Events that wait or are worked on. */
  open: number;
  /** Age of the oldest of them. */
  oldestMs: number | undefined;
  /** Events of the last 7 days. */
  failed: number;
  unmatched: number;
  /** Acknowledged, and of no use: nobody was named. */
  rejected: number;
  /** About partners and consumers. */
  worries: readonly Need[];
  hours: RecentOutcomes['hours'];
  /** Some receipts with an event that ended FAILED, the newest first. */
  deadLetters: readonly ReceiptDetailOut[];
  /** The newest of those that nobody acknowledged. */
  lastUnmatched: ReceiptDetailOut | undefined;
  lastRejected: ReceiptDetailOut | undefined;
};

/** Something that may not be well, the verdict where it is, and the steps of whom it concerns. */
export type Need = {
  state: Extract<State, 'bad' | 'warn'>;
  /** How much of it there is; nothing is amiss at 0. */
  total: number;
  /** As the heading of the page. */
  heading: string;
  action?: HtmlValue;
  steps?: readonly Step[];
};

/** A row of what needs a person. */
export type Step = { what: Html; since?: Html; next: HtmlValue; act: Html };

/** A deletion that has waited for longer is a reason to get up; the alert rules say the same. */
export const OLDEST_MAX_MS = HOUR;

/** The list of receipts that wait. */
export const PENDING_PATH = receiptsPath({ outcome: 'PENDING' });

/** The list of receipts with an event of one outcome that needs a person, in the last 7 days. */
export function weekOf(outcome: 'FAILED' | 'UNMATCHED' | 'REJECTED', nowMs: number): string {
  const from = new Date(nowMs - 7 * DAY).toISOString().slice(0, 10);
  return receiptsPath({ outcome, from, ...(outcome !== 'FAILED' && { acknowledged: 'no' }) });
}

/** All that may not be well, the gravest first: what stops deletions, what needs a person, the rest. */
export function needsOf(
  lines: readonly HealthLine[],
  queue: Operation | undefined,
  reader: Reader,
): Need[] {
  const parts = lines.filter(({ state }) => state === 'bad' || state === 'warn').map(needOfPart);
  const all = [...(queue ? needsOfQueue(queue, reader) : []), ...(queue?.worries ?? []), ...parts];
  return all.toSorted((left, right) => gravity(left) - gravity(right));
}

const gravity = ({ state }: Need): number => (state === 'bad' ? 0 : 1);

function needsOfQueue(queue: Operation, reader: Reader): Need[] {
  const { oldestMs = 0, failed, unmatched, rejected, lastUnmatched, lastRejected } = queue;
  const action = (href: string, text: string) => link(href, text, { look: 'button' });
  return [
    {
      state: 'bad',
      total: failed,
      heading: `${counted(failed, 'deletion')} ${failed === 1 ? 'needs' : 'need'} a person`,
      action: action(weekOf('FAILED', reader.nowMs), 'See the dead letters'),
      steps: queue.deadLetters.map((receipt) => deadLetterStep(receipt, reader)),
    },
    {
      state: 'bad',
      total: oldestMs > OLDEST_MAX_MS ? 1 : 0,
      heading: `A deletion has waited for ${duration(oldestMs)}`,
      action: action(PENDING_PATH, 'See what is pending'),
    },
    {
      state: 'warn',
      total: unmatched,
      heading: `${counted(unmatched, 'event')} matched no lead`,
      action: action(weekOf('UNMATCHED', reader.nowMs), 'See them'),
      steps: lastUnmatched && [newestStep('UNMATCHED', unmatched, lastUnmatched, reader)],
    },
    {
      state: 'warn',
      total: rejected,
      heading: `${counted(rejected, 'event')} could not be used`,
      action: action(weekOf('REJECTED', reader.nowMs), 'See them'),
      steps: lastRejected && [newestStep('REJECTED', rejected, lastRejected, reader)],
    },
  ];
}

/** Why the first of its events failed, and the issues of all that did. */
function deadLetterStep(receipt: ReceiptDetailOut, reader: Reader): Step {
  const { id, partnerId, receivedAt, events } = receipt;
  const failed = events.filter(({ outcome }) => outcome === 'FAILED');
  const { lastError = 'internal-error', completedAt = receivedAt } = failed[0] ?? {};
  const leadIds = new Set(failed.flatMap((event) => event.leadIds));
  const issues = [...leadIds].slice(0, 3).map((number) => `#${number}`);
  const about = issues.length > 0 && html`Issue ${issues.join(', ')}: `;
  return {
    what: html`${badge('bad', 'Dead letter')}${note(foreign(partnerId, 60), ', ', code(lastError))}`,
    since: time(Date.parse(completedAt), reader, 'minute'),
    next: html`${about}${remedyOf(lastError).step}.`,
    act: link(receiptPath(id), 'Open receipt', { more: id.slice(-8) }),
  };
}

/** `total`: how many events ended so; `last`: the newest receipt with one. */
function newestStep(
  outcome: 'UNMATCHED' | 'REJECTED',
  total: number,
  last: ReceiptDetailOut,
  reader: Reader,
): Step {
  const { partnerId, receivedAt, events } = last;
  const event = events.find((one) => one.outcome === outcome) ?? { names: [] };
  const { state, words } = OUTCOME_WORDS[outcome];
  const word = words.toLowerCase();
  const next =
    outcome === 'UNMATCHED'
      ? html`${adviceFor(event, partnerId)} Replay when the lead turns up, or acknowledge it.`
      : 'Tell the partner: an event has to say whom it means. Nobody was deleted by these. Then acknowledge them.';
  const all = total === 1 ? 'See it' : `See all ${count(total)}`;
  return {
    what: html`${badge(state, `${count(total)} ${word}`)}${note('last of ', foreign(partnerId, 60))}`,
    since: time(Date.parse(receivedAt), reader, 'minute'),
    next,
    act: link(weekOf(outcome, reader.nowMs), all, { more: `${word} receipts` }),
  };
}

const SENTENCES: Readonly<Record<string, string>> = {
  'tracker Failing': 'The tracker does not respond as it should',
  'tracker Quota used up': 'The tracker’s quota is used up',
  'store Unavailable': 'The store cannot be used',
  'worker Paused': 'The tracker does not let deletions be worked on',
  'worker Lacks a partner': 'Deletions wait for a partner that the configuration lacks',
  'worker Failing': 'Deletions are not worked on',
  'worker Stopped': 'Deletions are not worked on',
  'issuer Failing': 'The issuer does not respond',
  'webhook Refused': 'The tracker’s webhook is refused',
  'webhook Never came': 'The tracker’s webhook has never come',
  'webhook Quiet': 'The tracker’s webhook has not come for a week',
};

/** What leads to the card about the webhook, by how it is. */
const SET_UP: Readonly<Record<string, string>> = {
  'Never came': 'Set it up',
  Refused: 'Set it right',
};

function needOfPart({ name, label, word, state }: HealthLine): Need {
  const heading = SENTENCES[`${name} ${word}`] ?? `${label}: ${word.toLowerCase()}`;
  const step = name === 'webhook' ? SET_UP[word] : undefined;
  return {
    state: state === 'bad' ? 'bad' : 'warn',
    total: 1,
    heading,
    ...(step !== undefined && { action: link('#set-up', step, { look: 'button' }) }),
  };
}

/** A key that let nobody in for so long is not missed when it ends. */
const USED_WITHIN_MS = 7 * DAY;
/** The old key of a rotation is in use if it was used within this time. */
const OLD_USED_WITHIN_MS = HOUR;

type Callers = {
  partners: readonly PartnerSummary[];
  /** Consumers without a key that works. */
  keyless: readonly Consumer[];
  /** Those with a key that ends soon. */
  ending: readonly Consumer[];
};

/** What concerns partners and consumers, the gravest first. */
export function worriesOf(callers: Callers, reader: Reader): Need[] {
  return [refused(callers, reader), endingKeys(callers, reader), keyless(callers)];
}

type Affected = { badge: string; name: string; when?: Html; next: string; href: string };

const AFFECTED_SHOWN = 5;

/** `headings`: of one, and of many. `href`: where all of them are. */
function worry(
  state: Need['state'],
  headings: readonly [string, string],
  href: string,
  of: readonly Affected[],
): Need {
  const [only] = of;
  const isOne = only !== undefined && of.length === 1;
  return {
    state,
    total: of.length,
    heading: isOne ? headings[0] : `${count(of.length)} ${headings[1]}`,
    action: isOne
      ? link(only.href, 'See it', { look: 'button' })
      : link(href, 'See them', { look: 'button' }),
    steps: of.slice(0, AFFECTED_SHOWN).map(({ badge: words, name, when, next, href: own }) => ({
      what: html`${badge(state, words)}${note(foreign(name, 60))}`,
      since: when,
      next,
      act: link(own, 'Open', { more: words }),
    })),
  };
}

function refused({ partners }: Callers, { nowMs }: Reader): Need {
  const of = partners.flatMap((partner) => {
    const { id } = partner;
    const { state, words, nextStep = '' } = verdictOf(partner, nowMs);
    const next = `${nextStep.charAt(0).toUpperCase()}${nextStep.slice(1)}`;
    return state === 'bad' ? [{ badge: words, name: id, next, href: partnerPath(id) }] : [];
  });
  return worry('bad', ['A partner is refused', 'partners are refused'], PARTNERS_PATH, of);
}

function endingKeys({ ending }: Callers, reader: Reader): Need {
  const of = ending.flatMap(({ id, name, keys }) =>
    keys
      .filter((key) => endsInUse(key, reader.nowMs))
      .map(({ expiresAt = 0, replacedBy }) => ({
        badge: 'Key ends',
        name,
        when: ago(expiresAt, reader),
        next:
          replacedBy === undefined
            ? 'Rotate it: the old one goes on for the overlap.'
            : 'It was replaced, and is still in use: bring the new one to its consumer.',
        href: consumerPath(id),
      })),
  );
  const headings = ['A key in use ends soon', 'keys in use end soon'] as const;
  return worry('warn', headings, consumersPath({ expires: '14' }), of);
}

function endsInUse(key: Key, now: number): boolean {
  const { expiresAt = Infinity, lastUsedAt = -Infinity, replacedBy } = key;
  const withinMs = replacedBy === undefined ? USED_WITHIN_MS : OLD_USED_WITHIN_MS;
  const isActive = keyStateAt(key, now) === 'active';
  return isActive && expiresAt - now < KEY_ENDS_SOON_MS && now - lastUsedAt < withinMs;
}

function keyless({ keyless: consumers }: Callers): Need {
  const of = consumers.map(({ id, name }) => ({
    badge: 'No key',
    name,
    next: 'Add a key, or revoke the consumer: nobody can read as it.',
    href: consumerPath(id),
  }));
  const headings = ['A consumer has no key', 'consumers have no key'] as const;
  return worry('warn', headings, consumersPath({ state: 'no-key' }), of);
}

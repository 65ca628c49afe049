import type { RecentOutcomes } from '#partners/receipts/outcomes/outcome-reader.ts';
import type { NameKind } from '#partners/receipts/receipt.ts';
import { DAY, HOUR } from '#shared/clock.ts';
import type { Html, HtmlValue } from '../../html.ts';
import { foreign, link, type State } from '../../shell/parts.ts';
import { ago, count, counted, duration, type Reader } from '../../shell/times.ts';
import { receiptsPath } from '../receipts/query.ts';
import { type HealthLine, STANDBY_WORD } from './health-lines.ts';
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
  worries: readonly Worry[];
  hours: RecentOutcomes['hours'];
  /** Some of them, the newest first. */
  deadLetters: readonly DeadLetter[];
  lastUnmatched: Newest | undefined;
  lastRejected: Newest | undefined;
};

/** A receipt with an event that ended FAILED. */
export type DeadLetter = {
  receiptId: string;
  partnerId: string;
  /** When it was settled. */
  atMs: number;
  /** One of `eventErrors`. */
  error: string;
  /** Numbers of its issues. */
  leadIds: readonly string[];
};

/** The newest of those that ended in the same way. */
export type Newest = {
  total: number;
  partnerId: string;
  atMs: number;
  /** The first of its events that ended so. */
  event: { names: readonly NameKind[]; lastError?: string };
};

/** Something that is not well. */
type Concern = {
  state: Extract<State, 'bad' | 'warn'>;
  /** As the heading of the page. */
  heading: string;
  action?: HtmlValue;
};

/** A deletion that has waited for longer is a reason to get up; the alert rules say the same. */
export const OLDEST_MAX_MS = HOUR;

/** The list of receipts that wait. */
export const PENDING_PATH = receiptsPath({ outcome: 'PENDING' });

/** The list of receipts with an event of one outcome that needs a person, in the last 7 days. */
export function weekOf(outcome: 'FAILED' | 'UNMATCHED' | 'REJECTED', nowMs: number): string {
  const from = new Date(nowMs - 7 * DAY).toISOString().slice(0, 10);
  return receiptsPath({ outcome, from, ...(outcome !== 'FAILED' && { acknowledged: 'no' }) });
}

/** All that is not well, the gravest first: what stops deletions, what needs a person, the rest. */
export function concernsOf(
  lines: readonly HealthLine[],
  queue: Operation | undefined,
  nowMs: number,
): Concern[] {
  const parts = lines.filter(({ state }) => state === 'bad' || state === 'warn').map(partConcern);
  const worries = (queue?.worries ?? []).map(worryConcern);
  const all = [...(queue ? queueConcerns(queue, nowMs) : []), ...worries, ...parts];
  return all.toSorted((left, right) => gravity(left) - gravity(right));
}

function worryConcern(worry: Worry): Concern {
  const { state, headings, of } = worry;
  const heading = of.length === 1 ? headings.one : `${count(of.length)} ${headings.many}`;
  return { state, heading, action: toAffected(worry) };
}

const gravity = ({ state }: Concern): number => (state === 'bad' ? 0 : 1);

function queueConcerns(
  { oldestMs = 0, failed, unmatched, rejected }: Operation,
  nowMs: number,
): Concern[] {
  const concerns: Concern[] = [];
  if (failed > 0)
    concerns.push({
      state: 'bad',
      heading: `${counted(failed, 'deletion')} ${failed === 1 ? 'needs' : 'need'} a person`,
      action: link(weekOf('FAILED', nowMs), 'See the dead letters', { look: 'button' }),
    });
  if (oldestMs > OLDEST_MAX_MS)
    concerns.push({
      state: 'bad',
      heading: `A deletion has waited for ${duration(oldestMs)}`,
      action: link(PENDING_PATH, 'See what is pending', { look: 'button' }),
    });
  if (unmatched > 0)
    concerns.push({
      state: 'warn',
      heading: `${counted(unmatched, 'event')} matched no lead`,
      action: link(weekOf('UNMATCHED', nowMs), 'See them', { look: 'button' }),
    });
  if (rejected > 0)
    concerns.push({
      state: 'warn',
      heading: `${counted(rejected, 'event')} could not be used`,
      action: link(weekOf('REJECTED', nowMs), 'See them', { look: 'button' }),
    });
  return concerns;
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

function partConcern({ name, label, word, state }: HealthLine): Concern {
  const heading = SENTENCES[`${name} ${word}`] ?? `${label}: ${word.toLowerCase()}`;
  const concern = { state: state === 'bad' ? 'bad' : 'warn', heading } as const;
  const step = name === 'webhook' ? SET_UP[word] : undefined;
  if (step === undefined) return concern;
  return { ...concern, action: link('#set-up', step, { look: 'button' }) };
}

/** The verdict where nothing is amiss. What nobody knows of is not called well. */
export function calmVerdict(lines: readonly HealthLine[]): { state: State; heading: string } {
  if (lines.every(isSettled)) return { state: 'ok', heading: 'All is well' };
  return { state: 'wait', heading: 'Nothing is amiss, but not all is known yet' };
}

/** What stands below the verdict: the rest of what is not well, what nobody knows, and what is well. */
export function restOf(concerns: readonly Concern[], lines: readonly HealthLine[]): string {
  const others = concerns.slice(1).map(({ heading }) => `${heading}.`);
  const open = lines
    .filter((line) => (line.state === 'mute' || line.state === 'wait') && !isSettled(line))
    .map(({ label, word }) => `${label}: ${word.toLowerCase()}.`);
  const well = lines.filter(({ state }) => state === 'ok').map(({ label }) => label.toLowerCase());
  return [...others, ...open, wellSentence(well)].filter((sentence) => sentence !== '').join(' ');
}

/** A worker that stands by is as it should be. */
function isSettled({ state, word }: HealthLine): boolean {
  return state === 'ok' || word === STANDBY_WORD;
}

function wellSentence(names: readonly string[]): string {
  const [only] = names;
  if (only === undefined) return '';
  const list = new Intl.ListFormat('en').format(names);
  return `${list.charAt(0).toUpperCase()}${list.slice(1)} ${names.length === 1 ? 'is' : 'are'} well.`;
}

/** A kind of worry with whom it concerns. */
export type Worry = {
  state: Extract<State, 'bad' | 'warn'>;
  /** By how many: the heading of the page. */
  headings: { one: string; many: string };
  /** Where all of them are. */
  href: string;
  of: readonly Affected[];
};

type Affected = { badge: string; name: Html; when?: Html; next: string; href: string };

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

/** Only kinds that concern somebody, the gravest first. */
export function worriesOf(callers: Callers, reader: Reader): Worry[] {
  const all = [refused(callers, reader), endingKeys(callers, reader), keyless(callers)];
  return all.filter(({ of }) => of.length > 0);
}

function refused({ partners }: Callers, { nowMs }: Reader): Worry {
  const of = partners.flatMap((partner) => {
    const { state, words, nextStep = '' } = verdictOf(partner, nowMs);
    const next = `${nextStep.charAt(0).toUpperCase()}${nextStep.slice(1)}`;
    const name = foreign(partner.id, 60);
    return state === 'bad' ? [{ badge: words, name, next, href: partnerPath(partner.id) }] : [];
  });
  const headings = { one: 'A partner is refused', many: 'partners are refused' };
  return { state: 'bad', headings, href: PARTNERS_PATH, of };
}

function endingKeys({ ending }: Callers, reader: Reader): Worry {
  const of = ending.flatMap(({ id, name, keys }) =>
    keys
      .filter((key) => endsInUse(key, reader.nowMs))
      .map(({ expiresAt = 0, replacedBy }) => ({
        badge: 'Key ends',
        name: foreign(name, 60),
        when: ago(expiresAt, reader),
        next:
          replacedBy === undefined
            ? 'Rotate it: the old one goes on for the overlap.'
            : 'It was replaced, and is still in use: bring the new one to its consumer.',
        href: consumerPath(id),
      })),
  );
  const headings = { one: 'A key in use ends soon', many: 'keys in use end soon' };
  return { state: 'warn', headings, href: consumersPath({ expires: '14' }), of };
}

function endsInUse(key: Key, now: number): boolean {
  const { expiresAt = Infinity, lastUsedAt = -Infinity, replacedBy } = key;
  const withinMs = replacedBy === undefined ? USED_WITHIN_MS : OLD_USED_WITHIN_MS;
  const isActive = keyStateAt(key, now) === 'active';
  return isActive && expiresAt - now < KEY_ENDS_SOON_MS && now - lastUsedAt < withinMs;
}

function keyless({ keyless: consumers }: Callers): Worry {
  const of = consumers.map(({ id, name }) => ({
    badge: 'No key',
    name: foreign(name, 60),
    next: 'Add a key, or revoke the consumer: nobody can read as it.',
    href: consumerPath(id),
  }));
  const headings = { one: 'A consumer has no key', many: 'consumers have no key' };
  return { state: 'warn', headings, href: consumersPath({ state: 'no-key' }), of };
}

/** The way to them, for the head of the page. */
function toAffected({ of, href }: Worry): Html {
  const [only] = of;
  return only && of.length === 1
    ? link(only.href, 'See it', { look: 'button' })
    : link(href, 'See them', { look: 'button' });
}

import { type Consumer, type Key, keyStateAt } from '#access/consumers/consumer.ts';
import { endsSoon } from '#access/keys/key-rules.ts';
import type { PartnerSummary } from '#partners/list-partners.ts';
import type { ReceiptDetailOut } from '#partners/receipts/receipt-out.ts';
import type { RecentOutcomes } from '#partners/receipts/recent-outcomes.ts';
import { DAY, HOUR } from '#shared/clock.ts';
import { callerNeeds, partnerStates } from '#shared/outcomes/callers.ts';
import { eventOutcomes, outcomeNeeds } from '#shared/outcomes/events.ts';
import { html, type Html, type HtmlValue } from '../../html.ts';
import {
  PARTNERS_PATH,
  consumerPath,
  consumersPath,
  partnerPath,
  receiptPath,
  receiptsPath,
} from '../../paths.ts';
import { badge, code, foreign, link, note, type State } from '../../shell/elements.ts';
import { ago, count, counted, duration, type Viewer, time } from '../../shell/times.ts';
import { verdictOf } from '../partners.ts';
import { adviceFor, remedyOf, shortId } from '../receipts/receipt-words.ts';
import type { HealthLine } from './health-lines.ts';

/** Work that waits, and what did not end well: for those who may see receipts. */
export type Operation = RecentOutcomes & {
  /** Events that wait or are worked on. */
  open: number;
  /** Age of the oldest of them. */
  oldestMs: number | undefined;
  /** About partners and consumers. */
  callerAlerts: readonly Alert[];
  /** The newest receipts with an event that ended so: some that FAILED, one of the others. */
  newest: Readonly<Record<EndedBadly, readonly ReceiptDetailOut[]>>;
};

/** Outcomes that need a person. REJECTED was acknowledged, and of no use: nobody was named. */
export type EndedBadly = keyof RecentOutcomes['week'];

/** Something that may not be well, the verdict where it is, and the steps of whom it concerns. */
export type Alert = {
  state: Extract<State, 'bad' | 'warn'>;
  /** Amount; nothing is amiss at 0. */
  total: number;
  /** As the heading of the page. */
  heading: string;
  /** Since when, why, what goes on meanwhile, and the next step. */
  text?: Html | undefined;
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
export function weekOf(outcome: EndedBadly, nowMs: number): string {
  const from = new Date(nowMs - 7 * DAY).toISOString().slice(0, 10);
  return receiptsPath({ outcome, from, ...(outcome !== 'FAILED' && { acknowledged: 'no' }) });
}

/** All that may not be well, the gravest first: what stops deletions, what needs a person, the rest. */
export function alertsOf(
  lines: readonly HealthLine[],
  queue: Operation | undefined,
  viewer: Viewer,
): Alert[] {
  const parts = lines
    .filter(({ urgency }) => urgency === 'bad' || urgency === 'warn')
    .map(alertOfPart);
  const all = [
    ...(queue ? alertsOfQueue(queue, viewer) : []),
    ...(queue?.callerAlerts ?? []),
    ...parts,
  ];
  return all.toSorted((left, right) => gravity(left) - gravity(right));
}

const gravity = ({ state }: Alert): number => (state === 'bad' ? 0 : 1);

const buttonTo = (href: string, text: string): Html => link(href, text, { look: 'button' });

function alertsOfQueue(queue: Operation, viewer: Viewer): Alert[] {
  const { oldestMs = 0, newest, week } = queue;
  const { FAILED: failed = 0 } = week;
  return [
    {
      state: 'bad',
      total: failed,
      heading: headingOf('FAILED', failed, 'deletion'),
      action: buttonTo(weekOf('FAILED', viewer.nowMs), 'See the dead letters'),
      steps: newest.FAILED.map((receipt) => deadLetterStep(receipt, viewer)),
    },
    {
      state: 'bad',
      total: oldestMs > OLDEST_MAX_MS ? 1 : 0,
      heading: `A deletion has waited for ${duration(oldestMs)}`,
      action: buttonTo(PENDING_PATH, 'See what is pending'),
    },
    alertOfOutcome('UNMATCHED', queue, viewer),
    alertOfOutcome('REJECTED', queue, viewer),
  ];
}

/** Why the first of its events failed, and the issues of all that did. */
function deadLetterStep(receipt: ReceiptDetailOut, viewer: Viewer): Step {
  const { id, partnerId, receivedAt, events } = receipt;
  const failed = events.filter(({ outcome }) => outcome === 'FAILED');
  const { lastError = 'internal-error', completedAt = receivedAt } = failed[0] ?? {};
  const leadIds = new Set(failed.flatMap((event) => event.leadIds));
  const issues = [...leadIds].slice(0, 3).map((number) => `#${number}`);
  const about = issues.length > 0 && html`Issue ${issues.join(', ')}: `;
  return {
    what: html`${badge('bad', outcomeNeeds.FAILED.title)}${note(foreign(partnerId, 60), ', ', code(lastError))}`,
    since: time(Date.parse(completedAt), viewer, 'minute'),
    next: html`${about}${remedyOf(lastError).step}.`,
    act: link(receiptPath(id), 'Open receipt', { more: shortId(id) }),
  };
}

/** `2 deletions need a person`. */
function headingOf(outcome: EndedBadly, n: number, noun: string): string {
  const { one, many } = outcomeNeeds[outcome];
  return `${counted(n, noun)} ${n === 1 ? one : many}`;
}

/** All events that ended so, with a step for the newest. */
function alertOfOutcome(
  outcome: Exclude<EndedBadly, 'FAILED'>,
  { week, newest }: Operation,
  viewer: Viewer,
): Alert {
  const { [outcome]: total = 0 } = week;
  const { urgency, title } = eventOutcomes[outcome];
  const { next } = outcomeNeeds[outcome];
  const word = title.toLowerCase();
  const href = weekOf(outcome, viewer.nowMs);
  const all = total === 1 ? 'See it' : `See all ${count(total)}`;
  return {
    state: 'warn',
    total,
    heading: headingOf(outcome, total, 'event'),
    action: buttonTo(href, 'See them'),
    steps: newest[outcome].map(({ partnerId, receivedAt, events }) => ({
      what: html`${badge(urgency, `${count(total)} ${word}`)}${note('last of ', foreign(partnerId, 60))}`,
      since: time(Date.parse(receivedAt), viewer, 'minute'),
      next:
        outcome === 'UNMATCHED'
          ? html`${adviceFor(events.find((one) => one.outcome === outcome) ?? { names: [] }, partnerId)}
            ${next}.`
          : next,
      act: link(href, all, { more: `${word} receipts` }),
    })),
  };
}

function alertOfPart(line: HealthLine): Alert {
  const { label, title, heading = `${label}: ${title.toLowerCase()}`, setUp } = line;
  return {
    state: line.urgency === 'bad' ? 'bad' : 'warn',
    total: 1,
    heading,
    text: line.text,
    action: setUp && buttonTo('#set-up', setUp.step),
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

/** Alerts about partners and consumers, the gravest first. */
export function callerAlertsOf(callers: Callers, viewer: Viewer): Alert[] {
  return [
    refused(callers, viewer),
    silent(callers, viewer),
    endingKeys(callers, viewer),
    keyless(callers),
  ];
}

type Affected = { badge: string; name: string; when?: Html; next: string; href: string };

const AFFECTED_SHOWN = 5;

/** `href`: where all of them are. */
function callerAlert(
  { urgency: state, headings }: (typeof callerNeeds)[keyof typeof callerNeeds],
  href: string,
  of: readonly Affected[],
): Alert {
  const [only] = of;
  const isOne = only !== undefined && of.length === 1;
  return {
    state,
    total: of.length,
    heading: isOne ? headings[0] : `${count(of.length)} ${headings[1]}`,
    action: isOne ? buttonTo(only.href, 'See it') : buttonTo(href, 'See them'),
    steps: of.slice(0, AFFECTED_SHOWN).map(({ badge: words, name, when, next, href: own }) => ({
      what: html`${badge(state, words)}${note(foreign(name, 60))}`,
      since: when,
      next,
      act: link(own, 'Open', { more: words }),
    })),
  };
}

function refused({ partners }: Callers, { nowMs }: Viewer): Alert {
  const of = partners.flatMap((partner) => {
    const { id } = partner;
    const { urgency, title, next = '' } = verdictOf(partner, nowMs);
    return urgency === 'bad' ? [{ badge: title, name: id, next, href: partnerPath(id) }] : [];
  });
  return callerAlert(callerNeeds['partner-refused'], PARTNERS_PATH, of);
}

function silent({ partners }: Callers, viewer: Viewer): Alert {
  const { title, next } = partnerStates['fallen-silent'];
  const of = partners.flatMap(({ id, silentSince }) => {
    if (silentSince === undefined) return [];
    const when = time(silentSince, viewer, 'minute');
    return [{ badge: title, name: id, when, next, href: partnerPath(id) }];
  });
  return callerAlert(callerNeeds['partner-silent'], PARTNERS_PATH, of);
}

function endingKeys({ ending }: Callers, viewer: Viewer): Alert {
  const entry = callerNeeds['key-ending'];
  const of = ending.flatMap(({ id, name, keys }) =>
    keys
      .filter((key) => endsInUse(key, viewer.nowMs))
      .map(({ expiresAt = 0, replacedBy }) => ({
        badge: entry.title,
        name,
        when: ago(expiresAt, viewer),
        next: replacedBy === undefined ? entry.next : entry.nextIfReplaced,
        href: consumerPath(id),
      })),
  );
  return callerAlert(entry, consumersPath({ expires: '30' }), of);
}

function endsInUse(key: Key, now: number): boolean {
  const { lastUsedAt = -Infinity, replacedBy } = key;
  const withinMs = replacedBy === undefined ? USED_WITHIN_MS : OLD_USED_WITHIN_MS;
  const isActive = keyStateAt(key, now) === 'active';
  return isActive && endsSoon(key, now) && now - lastUsedAt < withinMs;
}

function keyless({ keyless: consumers }: Callers): Alert {
  const entry = callerNeeds['without-key'];
  const of = consumers.map(({ id, name }) => ({
    badge: entry.title,
    name,
    next: entry.next,
    href: consumerPath(id),
  }));
  return callerAlert(entry, consumersPath({ state: 'no-key' }), of);
}

import type { TrackerQuota } from '#leads/lead-tracker.ts';
import type { Outcome } from '#partners/receipts/receipt.ts';
import { html, type Html } from '../../html.ts';
import type { PortalPage } from '../../page.ts';
import { bars, quotaBar } from '../../shell/pictures.ts';
import { body, card, empty, type Fact, facts, pair, row, split, stats } from '../../shell/card.ts';
import { notice } from '../../shell/notice.ts';
import { badge, code, foreign, link, note } from '../../shell/parts.ts';
import { ago, count, counted, duration, type Reader, time } from '../../shell/times.ts';
import { receiptPath, RECEIPTS_PATH } from '../receipts/query.ts';
import { OUTCOME_WORDS } from '../receipts/words.ts';
import {
  calmVerdict,
  concernsOf,
  type DeadLetter,
  type Newest,
  OLDEST_MAX_MS,
  type Operation,
  PENDING_PATH,
  restOf,
  weekOf,
  type Worry,
} from './concerns.ts';
import { type HealthLine, isRefused, type WebhookFacts, webhookLine } from './health-lines.ts';
import { type Column, table } from '../../shell/table.ts';
import { adviceFor, remedyOf } from '../receipts/remedies.ts';

export type OverviewFacts = {
  lines: readonly HealthLine[];
  quota: TrackerQuota | undefined;
  /** The last request that failed since this process started. */
  trackerFailure: { cause: string; at: number } | undefined;
  webhook: WebhookFacts;
  /** When a lead changed last, if that is known, and how many streams this process has open. */
  feed: { newestAt: number | undefined; listeners: number };
  /** Undefined without the scope, or while the store cannot be read. */
  operation: Operation | undefined;
  /** Whether this port serves `/readyz`. */
  hasReadyz: boolean;
  /** Whether the chart counts events that no rule is for, which may be most of all. */
  withIgnored: boolean;
};

/** Is everything well? If not: what first? */
export function overviewPage(given: OverviewFacts, reader: Reader): PortalPage {
  const lines = given.lines.map((line) => withFailure(line, given, reader));
  lines.push(webhookLine(given.webhook, reader));
  const { operation } = given;
  const aside = [healthCard(lines, given, reader), quotaCard(given.quota, reader)];
  return {
    title: 'Overview',
    section: 'overview',
    meta: [html`As of ${time(reader.nowMs, reader)}`],
    actions: link('/portal', 'Refresh', { look: 'button' }),
    body: html`${verdict(lines, operation, reader)} ${operation && numbers(operation, reader)}
    ${layout(setUp(given.webhook), operation && work(operation, given.withIgnored, reader), aside)}`,
  };
}

/** Without the queue there is nothing for health to stand beside. */
function layout(
  setUp: Html | undefined,
  work: Html | undefined,
  aside: (Html | undefined)[],
): Html {
  return work ? split([setUp, work], aside) : html`${pair(aside)} ${setUp}`;
}

function withFailure(line: HealthLine, { trackerFailure }: OverviewFacts, reader: Reader) {
  if (line.name !== 'tracker' || line.state === 'bad' || !trackerFailure) return line;
  const { cause, at } = trackerFailure;
  const said = html`Last failure ${time(at, reader, 'minute')}: ${cause}.`;
  return { ...line, text: html`${line.text} ${said}` };
}

function verdict(lines: readonly HealthLine[], queue: Operation | undefined, reader: Reader): Html {
  const concerns = concernsOf(lines, queue, reader.nowMs);
  const [first] = concerns;
  const text = restOf(concerns, lines);
  if (!first) return notice({ ...calmVerdict(lines), id: 'verdict', text });
  const { state, heading, action } = first;
  return notice({ state, id: 'verdict', heading, text, actions: action });
}

function numbers({ open, oldestMs, failed, unmatched }: Operation, { nowMs }: Reader): Html {
  const [age, ...units] = oldestMs === undefined ? ['None'] : duration(oldestMs).split(' ');
  const isLate = (oldestMs ?? 0) > OLDEST_MAX_MS;
  return stats([
    {
      term: 'Oldest open deletion',
      value: age,
      note: 'Alert above 1 hour',
      ...(units.length > 0 && { unit: units.join(' ') }),
      ...(isLate && { state: 'bad' as const }),
    },
    {
      term: 'Open deletions',
      value: count(open),
      note: link(PENDING_PATH, 'Pending receipts'),
    },
    {
      term: 'Dead letters, 7 days',
      value: count(failed),
      note: link(weekOf('FAILED', nowMs), 'Failed receipts'),
      ...(failed > 0 && { state: 'bad' as const }),
    },
    {
      term: 'Unmatched, 7 days',
      value: count(unmatched),
      note: link(weekOf('UNMATCHED', nowMs), 'Unmatched receipts'),
      ...(unmatched > 0 && { state: 'warn' as const }),
    },
  ]);
}

/** From the bottom of a bar to its top. */
const STACKED: readonly Outcome[] = [
  'DONE',
  'PENDING',
  'UNMATCHED',
  'IGNORED',
  'REJECTED',
  'FAILED',
];

const SERIES = STACKED.map((key) => {
  const { state, words } = OUTCOME_WORDS[key];
  return { key, label: words, state };
});

function work(operation: Operation, withIgnored: boolean, reader: Reader): Html {
  const toggle = withIgnored
    ? link('/portal#per-hour', 'Leave out ignored')
    : link('/portal?ignored=shown#per-hour', 'With ignored');
  const steps = nextSteps(operation, reader);
  const picture = {
    id: 'per-hour',
    heading: 'Receipts per hour by outcome',
    aside: row(toggle, link(RECEIPTS_PATH, 'All receipts')),
    unit: 'event',
    series: withIgnored ? SERIES : SERIES.filter(({ key }) => key !== 'IGNORED'),
    slots: operation.hours,
  };
  return html`${steps && card({ id: 'next-steps', heading: 'Next steps' }, steps)}
  ${bars(picture, reader)}`;
}

function healthCard(
  lines: readonly HealthLine[],
  { feed: { newestAt, listeners }, hasReadyz }: OverviewFacts,
  reader: Reader,
): Html {
  const rows = lines.map(({ label, state, word, text }): Fact => {
    return [label, html`${badge(state, word)}${text && note(text)}`];
  });
  const newest =
    newestAt === undefined ? 'No change yet' : html`Newest change ${ago(newestAt, reader)}`;
  const streams = note(`${counted(listeners, 'stream')} open here`);
  rows.push(['Lead feed', html`${newest}${streams}`]);
  const aside = hasReadyz ? link('/readyz', 'As JSON') : undefined;
  return card({ id: 'health', heading: 'Health', aside }, body(facts(rows)));
}

function quotaCard(quota: TrackerQuota | undefined, reader: Reader): Html | undefined {
  if (!quota) return undefined;
  const { remaining, limit, resetAt } = quota;
  const left = `${count(remaining)} of ${count(limit)}`;
  const picture = quotaBar({
    headingId: 'quota',
    caption: html`${left} calls left until ${time(resetAt, reader, 'clock')}.`,
    left: remaining,
    limit,
    thresholds: [0.2, 0.1],
  });
  return card({ id: 'quota', heading: 'Tracker quota' }, picture);
}

/** Shown while the webhook does not get through: the exact values, to be copied. */
function setUp(webhook: WebhookFacts): Html | undefined {
  const { url, hasSecret, isKnown, lastAt } = webhook;
  const wasRefused = isRefused(webhook);
  if (!isKnown || (lastAt !== undefined && !wasRefused)) return undefined;
  const secret = hasSecret
    ? html`one of ${code('tracker.webhookSecrets')}`
    : html`make one with <code>openssl rand -hex 32</code>, and put it into
        ${code('tracker.webhookSecrets')} as well`;
  return empty({
    id: 'set-up',
    heading: wasRefused ? 'The webhook is refused' : 'The webhook has never come',
    text: wasRefused
      ? 'Until one is accepted, changed leads are seen later. In the tracker’s settings, under webhooks, compare, then redeliver:'
      : 'Without it changed leads are seen later. In the tracker’s settings, under webhooks, add:',
    content: facts([
      ['Payload URL', code(url)],
      ['Content type', code('application/json')],
      ['Secret', secret],
      ['Events', 'Issues, Labels, Repositories'],
    ]),
    next: link('/portal', 'Look again', { look: 'button' }),
  });
}

type Step = { what: Html; since: Html | undefined; next: Html | string; act: Html };

/** What needs a person, the gravest first; undefined when nothing does. */
function nextSteps(operation: Operation, reader: Reader): Html | undefined {
  const { deadLetters, lastUnmatched, lastRejected, worries } = operation;
  const stepsIn = (state: Worry['state']): Step[] =>
    worries.filter((worry) => worry.state === state).flatMap(worrySteps);
  const rows = [
    ...deadLetters.map((letter) => deadLetterStep(letter, reader)),
    ...stepsIn('bad'),
    ...(lastUnmatched ? [unmatchedStep(lastUnmatched, reader)] : []),
    ...(lastRejected ? [rejectedStep(lastRejected, reader)] : []),
    ...stepsIn('warn'),
  ];
  if (rows.length === 0) return undefined;
  const columns: Column<Step>[] = [
    ['What', ({ what }) => what],
    ['Since', ({ since }) => since, 'whole'],
    ['Next step', ({ next }) => next],
    ['Actions', ({ act }) => act, 'acts'],
  ];
  return table({ caption: 'What needs a person, most urgent first', columns, rows });
}

function deadLetterStep(letter: DeadLetter, reader: Reader): Step {
  const { receiptId, partnerId, atMs, error, leadIds } = letter;
  const issues = leadIds.slice(0, 3).map((id) => `#${id}`);
  const about = issues.length > 0 && html`Issue ${issues.join(', ')}: `;
  return {
    what: html`${badge('bad', 'Dead letter')}${note(foreign(partnerId, 60), ', ', code(error))}`,
    since: time(atMs, reader, 'minute'),
    next: html`${about}${remedyOf(error).step}.`,
    act: link(receiptPath(receiptId), 'Open receipt', { more: receiptId.slice(-8) }),
  };
}

const AFFECTED_SHOWN = 5;

function worrySteps({ state, of }: Worry): Step[] {
  return of.slice(0, AFFECTED_SHOWN).map(({ badge: words, name, when, next, href }) => ({
    what: html`${badge(state, words)}${note(name)}`,
    since: when,
    next,
    act: link(href, 'Open', { more: words }),
  }));
}

function unmatchedStep({ total, partnerId, atMs, event }: Newest, reader: Reader): Step {
  return {
    what: html`${badge('warn', `${count(total)} unmatched`)}${note('last of ', foreign(partnerId, 60))}`,
    since: time(atMs, reader, 'minute'),
    next: html`${adviceFor(event, partnerId)} Replay when the lead turns up, or acknowledge it.`,
    act: link(weekOf('UNMATCHED', reader.nowMs), seeWords(total), { more: 'unmatched receipts' }),
  };
}

function rejectedStep({ total, partnerId, atMs }: Newest, reader: Reader): Step {
  return {
    what: html`${badge('odd', `${count(total)} rejected`)}${note('last of ', foreign(partnerId, 60))}`,
    since: time(atMs, reader, 'minute'),
    next: 'Tell the partner: an event has to say whom it means. Nobody was deleted by these. Then acknowledge them.',
    act: link(weekOf('REJECTED', reader.nowMs), seeWords(total), { more: 'rejected receipts' }),
  };
}

const seeWords = (total: number): string => (total === 1 ? 'See it' : `See all ${count(total)}`);

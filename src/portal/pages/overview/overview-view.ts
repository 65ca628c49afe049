import type { TrackerQuota } from '#leads/lead-tracker.ts';
import type { Outcome } from '#partners/receipts/receipt.ts';
import { eventOutcomes } from '#shared/outcomes/events.ts';
import { html, type Html } from '../../html.ts';
import type { PortalPage } from '../../page.ts';
import { bars, quotaBar } from '../../shell/pictures.ts';
import { body, card, empty, type Fact, facts, pair, row, split, stats } from '../../shell/card.ts';
import { notice } from '../../shell/notice.ts';
import { badgeOf, code, link, note } from '../../shell/elements.ts';
import { ago, count, counted, duration, type Viewer, time } from '../../shell/times.ts';
import {
  type Alert,
  alertsOf,
  OLDEST_MAX_MS,
  type Operation,
  PENDING_PATH,
  type Step,
  weekOf,
} from './alerts.ts';
import { type HealthLine, type WebhookTraffic, webhookLine } from './health-lines.ts';
import { type Column, table } from '../../shell/list.ts';
import { RECEIPTS_PATH } from '../../paths.ts';

export type Overview = {
  lines: readonly HealthLine[];
  quota: TrackerQuota | undefined;
  /** The last request that failed since this process started. */
  trackerFailure: { cause: string; at: number } | undefined;
  webhook: WebhookTraffic;
  /** Time of the last change of a lead, if that is known, and the number of open streams of this process. */
  feed: { newestAt: number | undefined; listeners: number };
  /** Undefined without the scope, or while the store cannot be read. */
  operation: Operation | undefined;
  /** This port serves `/readyz`. */
  hasReadyz: boolean;
  /** The chart counts events that no rule is for, which may be most of all. */
  withIgnored: boolean;
};

/** Is everything well? If not: what first? */
export function overviewView(given: Overview, viewer: Viewer): PortalPage {
  const webhook = webhookLine(given.webhook, viewer);
  const lines = [...given.lines.map((line) => withFailure(line, given, viewer)), webhook];
  const { operation } = given;
  const alerts = alertsOf(lines, operation, viewer);
  const toSetUp = webhook.setUp && setUpCard(webhook.setUp, given.webhook);
  const quota = given.quota && quotaCard(given.quota, viewer);
  const aside = [healthCard(lines, given, viewer), quota];
  // Without the queue there is nothing for health to stand beside.
  const rest = operation
    ? split([toSetUp, work(operation, given, viewer)], aside)
    : html`${pair(aside)} ${toSetUp}`;
  return {
    title: 'Overview',
    section: 'overview',
    meta: [html`As of ${time(viewer.nowMs, viewer)}`],
    actions: link('/portal', 'Refresh', { look: 'button' }),
    // While the store is away, too.
    isWaiting: operation === undefined || operation.open > 0 || !lines.every(isKnownWell),
    body: html`${verdict(lines, alerts)}
    ${operation && html`${numbers(operation, viewer)} ${nextSteps(alerts)}`} ${rest}`,
  };
}

function withFailure(line: HealthLine, { trackerFailure }: Overview, viewer: Viewer) {
  if (line.name !== 'tracker' || line.urgency === 'bad' || !trackerFailure) return line;
  const { cause, at } = trackerFailure;
  const said = html`Last failure ${time(at, viewer, 'minute')}: ${cause}.`;
  return { ...line, text: html`${line.text} ${said}` };
}

function verdict(lines: readonly HealthLine[], alerts: readonly Alert[]): Html {
  const amiss = alerts.filter(({ total }) => total > 0);
  const [first] = amiss;
  const rest = restOf(amiss, lines);
  if (!first)
    return lines.every(isKnownWell)
      ? notice({ state: 'ok', id: 'verdict', heading: 'All is well', text: rest })
      : notice({ state: 'wait', id: 'verdict', heading: NOT_ALL_KNOWN, text: rest });
  const { state, heading, action } = first;
  const text = first.text ? html`${first.text}<br />${rest}` : rest;
  return notice({ state, id: 'verdict', heading, text, actions: action });
}

const NOT_ALL_KNOWN = 'Nothing is amiss, but not all is known yet';

/** Text below the verdict: the rest of what is not well, what nobody knows, and what is well. */
function restOf(alerts: readonly Alert[], lines: readonly HealthLine[]): string {
  const others = alerts.slice(1).map(({ heading }) => `${heading}.`);
  const open = lines
    .filter((line) => (line.urgency === 'mute' || line.urgency === 'wait') && !isKnownWell(line))
    .map(({ label, title }) => `${label}: ${title.toLowerCase()}.`);
  const well = lines
    .filter(({ urgency }) => urgency === 'ok')
    .map(({ label }) => label.toLowerCase());
  return [...others, ...open, wellSentence(well)].filter((sentence) => sentence !== '').join(' ');
}

const isKnownWell = ({ urgency, isSettled }: HealthLine): boolean =>
  urgency === 'ok' || isSettled === true;

function wellSentence(names: readonly string[]): string {
  const [only] = names;
  if (only === undefined) return '';
  const list = new Intl.ListFormat('en').format(names);
  return `${list.charAt(0).toUpperCase()}${list.slice(1)} ${names.length === 1 ? 'is' : 'are'} well.`;
}

function numbers({ open, oldestMs, week }: Operation, { nowMs }: Viewer): Html {
  const { FAILED: failed = 0, UNMATCHED: unmatched = 0 } = week;
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
  const { urgency, title } = eventOutcomes[key];
  return { key, label: title, state: urgency };
});

function work(
  operation: Operation,
  { withIgnored }: { withIgnored: boolean },
  viewer: Viewer,
): Html {
  const toggle = withIgnored
    ? link('/portal#per-hour', 'Leave out ignored')
    : link('/portal?ignored=shown#per-hour', 'With ignored');
  const picture = {
    id: 'per-hour',
    heading: 'Receipts per hour by outcome',
    aside: row(toggle, link(RECEIPTS_PATH, 'All receipts')),
    unit: 'event',
    series: withIgnored ? SERIES : SERIES.filter(({ key }) => key !== 'IGNORED'),
    slots: operation.hours,
  };
  return bars(picture, viewer);
}

function healthCard(
  lines: readonly HealthLine[],
  { feed: { newestAt, listeners }, hasReadyz }: Overview,
  viewer: Viewer,
): Html {
  const rows = lines.map((line): Fact => {
    return [line.label, html`${badgeOf(line)}${line.text && note(line.text)}`];
  });
  const newest =
    newestAt === undefined ? 'No change yet' : html`Newest change ${ago(newestAt, viewer)}`;
  const streams = note(`${counted(listeners, 'stream')} open here`);
  rows.push(['Lead feed', html`${newest}${streams}`]);
  const aside = hasReadyz ? link('/readyz', 'As JSON') : undefined;
  return card({ id: 'health', heading: 'Health', aside }, body(facts(rows)));
}

function quotaCard(quota: TrackerQuota, viewer: Viewer): Html {
  const { remaining, limit, resetAt } = quota;
  const left = `${count(remaining)} of ${count(limit)}`;
  const caption = html`${left} calls left until ${time(resetAt, viewer, 'clock')}.`;
  return card({ id: 'quota', heading: 'Tracker quota' }, quotaBar('quota', caption, quota));
}

/** Shown while the webhook does not get through: the exact values, to be copied. */
function setUpCard(
  { heading, text }: NonNullable<HealthLine['setUp']>,
  { url, hasSecret }: WebhookTraffic,
): Html {
  const secret = hasSecret
    ? html`one of ${code('tracker.webhookSecrets')}`
    : html`make one with <code>openssl rand -hex 32</code>, and put it into
        ${code('tracker.webhookSecrets')} as well`;
  return empty({
    id: 'set-up',
    heading,
    text,
    content: facts([
      ['Payload URL', code(url)],
      ['Content type', code('application/json')],
      ['Secret', secret],
      ['Events', 'Issues, Labels, Repositories'],
    ]),
    next: link('/portal', 'Look again', { look: 'button' }),
  });
}

/** Steps for people, the gravest first; undefined when there is none. */
function nextSteps(alerts: readonly Alert[]): Html | undefined {
  const rows = alerts.flatMap(({ steps = [] }) => steps);
  if (rows.length === 0) return undefined;
  const columns: Column<Step>[] = [
    ['What', ({ what }) => what],
    ['Since', ({ since }) => since, 'whole'],
    ['Next step', ({ next }) => next],
    ['Actions', ({ act }) => act, 'acts'],
  ];
  const rowsTable = table({ caption: 'What needs a person, most urgent first', columns, rows });
  return card({ id: 'next-steps', heading: 'Next steps' }, rowsTable);
}

/** The overview: is everything well, and if not, what first? */
import { z } from 'zod';
import type { ConsumerFilter } from '#access/consumers/manage-consumers.ts';
import { KEY_ENDS_SOON_MS } from '#access/keys/key-rules.ts';
import { GITHUB_WEBHOOK_PATH } from '#http/routes/github-webhook.ts';
import type { TrackerQuota } from '#leads/lead-tracker.ts';
import type { Outcome } from '#partners/receipts/receipt.ts';
import { TRACKER, type TrafficSum } from '#partners/traffic.ts';
import { DAY } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import { eventOutcomes } from '#shared/outcomes/events.ts';
import type { PortalContext } from '../../context.ts';
import { html, type Html } from '../../html.ts';
import { may, type PortalPage } from '../../page.ts';
import { SECTIONS, RECEIPTS_PATH } from '../../paths.ts';
import { page } from '../../routes/page-route.ts';
import {
  body,
  card,
  empty,
  type Fact,
  facts,
  pair,
  row,
  split,
  stats,
  notice,
} from '../../shell/card.ts';
import { badgeOf, code, link, note } from '../../shell/elements.ts';
import { type Column, table } from '../../shell/list.ts';
import { bars, quotaBar } from '../../shell/pictures.ts';
import { type Viewer, ago, count, counted, duration, time } from '../../shell/times.ts';
import {
  type EndedBadly,
  type Operation,
  callerAlertsOf,
  type Alert,
  alertsOf,
  OLDEST_MAX_MS,
  PENDING_PATH,
  type Step,
  weekOf,
} from './alerts.ts';
import { toHealthLine, type WebhookTraffic, type HealthLine, webhookLine } from './health-lines.ts';

const WEBHOOK_DAYS = 30;
const ROWS = 5;
const CONSUMERS_LOOKED_AT = 100;

const query = z.strictObject({ ignored: z.literal('shown').optional() });

/** `/portal`: for everybody who is signed in; what waits, for those who may see receipts. */
export const overviewPage = page({
  path: SECTIONS.overview.path,
  query,
  show: async (context, { person, viewer, query: { ignored } }) => {
    const { hasReadyz, tracker, leadFeed } = context;
    const [{ checks }, webhook, newestAt, operation] = await Promise.all([
      context.readiness(),
      readWebhook(context),
      orNothing(leadFeed.newestAt()),
      may(person, SECTIONS.receipts.scope) ? readOperation(context, viewer) : undefined,
    ]);
    const lines = Object.entries(checks).map(([name, result]) =>
      toHealthLine(name, result, viewer),
    );
    const feed = { newestAt, listeners: leadFeed.listeners() };
    const facts = { lines, webhook, feed, operation, hasReadyz, quota: tracker.quota() };
    const withIgnored = ignored === 'shown';
    return overviewView({ ...facts, trackerFailure: tracker.lastFailure(), withIgnored }, viewer);
  },
});

/** The page is needed most while the store is away, so it does without. */
async function orNothing<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (isTrackportError(error, 'store-unavailable')) return undefined;
    throw error;
  }
}

async function readWebhook({
  traffic,
  tracker,
  publicUrl,
}: PortalContext): Promise<WebhookTraffic> {
  const sums = await orNothing(traffic.read(WEBHOOK_DAYS));
  const ofTracker = sums?.filter(({ sender }) => sender === TRACKER) ?? [];
  const last = ofTracker.find(({ kind }) => kind === 'verified');
  return {
    url: `${publicUrl()}${GITHUB_WEBHOOK_PATH}`,
    hasSecret: tracker.hasWebhookSecret(),
    isKnown: sums !== undefined,
    lastAt: last?.lastAt,
    refused: refusedOf(ofTracker.filter(({ kind }) => kind === 'refused')),
  };
}

/** Of sums with the latest first. */
function refusedOf(sums: readonly TrafficSum[]): WebhookTraffic['refused'] {
  const [latest] = sums;
  if (!latest) return undefined;
  const { detail: reason, lastAt } = latest;
  return { count: sums.reduce((total, { count }) => total + count, 0), reason, lastAt };
}

function readOperation(context: PortalContext, viewer: Viewer): Promise<Operation | undefined> {
  const { partners } = context;
  const { nowMs } = viewer;
  const since = nowMs - 7 * DAY;
  const read = async (): Promise<Operation> => {
    const [{ open, oldestAskedAt }, recent, failed, callerAlerts] = await Promise.all([
      partners.workerStatus(),
      partners.recentOutcomes(),
      readNewest(context, { outcome: 'FAILED', since }, ROWS),
      readWorries(context, viewer),
    ]);
    const lastOf = async (outcome: EndedBadly) => {
      const filter = { outcome, since, isAcknowledged: false } as const;
      return recent.week[outcome] === undefined ? [] : readNewest(context, filter, 1);
    };
    return {
      ...recent,
      open,
      oldestMs: oldestAskedAt === undefined ? undefined : nowMs - oldestAskedAt,
      callerAlerts,
      newest: {
        FAILED: failed,
        UNMATCHED: await lastOf('UNMATCHED'),
        REJECTED: await lastOf('REJECTED'),
      },
    };
  };
  return orNothing(read());
}

async function readWorries({ partners, access }: PortalContext, viewer: Viewer) {
  const find = async (filter: ConsumerFilter) =>
    (await access.consumers.find({ filter, limit: CONSUMERS_LOOKED_AT })).items;
  const [known, keyless, ending] = await Promise.all([
    partners.list(),
    find({ status: 'no-key' }),
    find({ endsWithinDays: KEY_ENDS_SOON_MS / DAY }),
  ]);
  return callerAlertsOf({ partners: known, keyless, ending }, viewer);
}

/** The newest receipts with such events, each with all of them. */
async function readNewest(
  { partners: { receipts } }: PortalContext,
  filter: Parameters<PortalContext['partners']['receipts']['list']>[0]['filter'],
  limit: number,
) {
  const { items } = await receipts.list({ filter, limit });
  return Promise.all(items.map(({ id }) => receipts.read(id)));
}

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

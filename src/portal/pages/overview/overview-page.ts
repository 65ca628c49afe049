import { z } from 'zod';
import { GITHUB_WEBHOOK_PATH } from '#http/routes/github-webhook.ts';
import type { ConsumerFilter } from '#access/consumers/find-consumers.ts';
import { TRACKER, type TrafficSum } from '#partners/traffic.ts';
import { DAY } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import { may } from '../../page.ts';
import { page } from '../../routes/page-route.ts';
import type { Viewer } from '../../shell/times.ts';
import { KEY_ENDS_SOON_MS } from '#access/keys/key-rules.ts';
import type { PortalContext } from '../../context.ts';
import { SECTIONS } from '../../paths.ts';
import { type EndedBadly, type Operation, callerAlertsOf } from './alerts.ts';
import { toHealthLine, type WebhookTraffic } from './health-lines.ts';
import { overviewView } from './overview-view.ts';

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

import { type Clock, DAY, SECOND } from '#shared/clock.ts';
import {
  PORTAL_AUTHOR,
  SAMPLE_ISSUE_FIELDS,
  sampleFields,
  sampleIssues,
  sampleLabels,
} from './seed.ts';
import type { NewIssue } from './tracker/world/change-issues.ts';
import { SANDBOX_ADMIN_TOKEN, startTracker } from './tracker/tracker.ts';

export type TrackerOnlyOptions = {
  /** 0 picks a free one. */
  port: number;
  /** So many rows in place of the sample leads, a tenth of them pull requests. */
  issues?: number;
  /** Milliseconds that every response takes at least. */
  latencyMs: number;
  /** Calls an hour. */
  quota: number;
  /** Receiver of its webhooks; undefined: nobody. */
  webhookUrl?: string;
};

/** Fixed, so that a configuration for it goes on being right; they work nowhere else. */
const TOKEN = 'sandbox-tracker-token';
const WEBHOOK_SECRET = 'sandbox-webhook-secret';

/**
 * Starts the tracker without adapter and issuer, for a configuration of somebody's own. `config` has the sections about
 * it, in the shape of the file.
 */
export async function startTrackerOnly(
  clock: Clock,
  { port, issues, latencyMs, quota, webhookUrl }: TrackerOnlyOptions,
) {
  const tracker = await startTracker({
    clock,
    port,
    latencyMs,
    quota,
    tokens: [
      { token: TOKEN, can: 'write', login: 'trackport-service' },
      { token: SANDBOX_ADMIN_TOKEN, can: 'admin' },
    ],
  });
  for (const label of sampleLabels) tracker.createLabel(label);
  for (const field of sampleFields) tracker.createField(field);
  const now = clock.now();
  tracker.seedIssues(issues === undefined ? sampleIssues(now) : manyIssues(issues, now));
  if (webhookUrl !== undefined) tracker.addWebhook(webhookUrl, WEBHOOK_SECRET);
  const config = {
    tracker: {
      repository: tracker.repository,
      apiUrl: tracker.url,
      auth: { token: TOKEN },
      adminToken: SANDBOX_ADMIN_TOKEN,
      webhookSecrets: [WEBHOOK_SECRET],
    },
    leads: { portalAuthors: [PORTAL_AUTHOR], issueFields: SAMPLE_ISSUE_FIELDS },
  };
  return { tracker, config };
}

const PULL_REQUEST_EVERY = 10;

/** Rows of the last year, each person once; pull requests are spread, so that no page holds them alone. */
function manyIssues(count: number, now: number): NewIssue[] {
  const samples = sampleIssues(now).filter(({ isPullRequest }) => !isPullRequest);
  const start = Math.floor(now / SECOND) * SECOND - 365 * DAY;
  const step = Math.max(SECOND, Math.floor((360 * DAY) / count / SECOND) * SECOND);
  return Array.from({ length: count }, (_, at) => {
    const sample = samples[at % samples.length] ?? { title: 'Contact request' };
    const createdAt = start + at * step;
    return {
      ...sample,
      body: (sample.body ?? '').replace(/[\w.]+@[Ee]xample/, `person${at}@example`),
      createdAt,
      updatedAt: createdAt,
      isPullRequest: at % PULL_REQUEST_EVERY === PULL_REQUEST_EVERY - 1,
    };
  });
}

import { parseArgs } from 'node:util';

import { sampleIssues, sampleLabels } from '#sandbox/seed.ts';
import type { NewIssue } from '#sandbox/tracker/world/change-issues.ts';
import { SANDBOX_ADMIN_TOKEN, startTracker } from '#sandbox/tracker/tracker.ts';
import { DAY } from '#shared/clock.ts';

/**
 * Starts a sandbox tracker in a process of its own and prints one JSON line with its url, so that
 * a bench measures the adapter and not the tracker. SIGTERM or SIGINT ends it.
 */

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    issues: { type: 'string', default: '1000' },
    /** Share of pull requests among them, 0 to 1. */
    'pull-requests': { type: 'string', default: '0.1' },
    /** Milliseconds that every answer takes at least. */
    latency: { type: 'string', default: '0' },
    /** Requests an hour; a bench asks for more than GitHub allows. */
    quota: { type: 'string', default: '100000000' },
    webhook: { type: 'string' },
    secret: { type: 'string', default: 'bench-webhook-secret' },
  },
});

function benchIssues(count: number, share: number): NewIssue[] {
  const samples = sampleIssues(Date.now()).filter(({ isPullRequest }) => !isPullRequest);
  const start = Math.floor(Date.now() / 1000) * 1000 - 365 * DAY;
  const step = Math.max(1000, Math.floor((360 * DAY) / count / 1000) * 1000);
  return Array.from({ length: count }, (_, at) => {
    const sample = samples[at % samples.length] ?? { title: 'Contact request' };
    const createdAt = start + at * step;
    // Spread evenly, so that no page holds pull requests alone.
    const isPullRequest = Math.floor((at + 1) * share) > Math.floor(at * share);
    return {
      ...sample,
      body: (sample.body ?? '').replace(/[\w.]+@[Ee]xample/, `person${at}@example`),
      createdAt,
      updatedAt: createdAt,
      isPullRequest,
    };
  });
}

const tracker = await startTracker({
  port: Number(values.port),
  latencyMs: Number(values.latency),
  quota: Number(values.quota),
});
for (const label of sampleLabels) tracker.createLabel(label);
tracker.seedIssues(benchIssues(Number(values.issues), Number(values['pull-requests'])));
if (values.webhook) tracker.addWebhook(values.webhook, values.secret);

console.log(
  JSON.stringify({
    url: tracker.url,
    repository: tracker.repository,
    token: SANDBOX_ADMIN_TOKEN,
    webhookSecret: values.secret,
    issues: tracker.issues().length,
  }),
);

const stop = (): void => void tracker.close();
process.once('SIGTERM', stop);
process.once('SIGINT', stop);

import { Octokit } from '@octokit/rest';
import { readControl } from '#sandbox/instruments/remote-controls.ts';
import { SANDBOX_ADMIN_TOKEN } from '#sandbox/tracker/tracker.ts';
import type { Running } from '../processes.ts';
import { type ConfigOptions, createKey, startTracker, writeConfig } from '../service.ts';
import type { BenchEngine } from '../stores.ts';

/** A tracker that answers after 50 ms, a configuration for it, and a consumer's key. */
export type LeadWorld = {
  folder: string;
  config: string;
  key: string;
  tracker: Running;
};

export const WEBHOOK_SECRET = 'bench-webhook-secret';
const LATENCY_MS = 50;

/**
 * Opens it with so many rows, a tenth of them pull requests, and closes it after `work`. `settings`: keys by section,
 * above those that it needs.
 */
export async function inLeadWorld<T>(
  { folder, newStore }: BenchEngine,
  rows: number,
  work: (world: LeadWorld) => Promise<T>,
  settings: ConfigOptions['settings'] = {},
): Promise<T> {
  const tracker = await startTracker(rows, { latencyMs: LATENCY_MS });
  try {
    const config = writeConfig(folder, {
      storeUrl: await newStore(),
      trackerUrl: tracker.url,
      settings: { ...settings, tracker: { webhookSecrets: [WEBHOOK_SECRET] } },
    });
    return await work({ folder, config, key: await createKey(config), tracker });
  } finally {
    await tracker.stop();
  }
}

/** The body of a 200. @throws Error for every other status */
export async function readJson(url: string, key: string): Promise<unknown> {
  const response = await fetch(url, { headers: { 'x-api-key': key } });
  if (!response.ok) throw new Error(`${url} got ${response.status}`);
  return response.json();
}

export function octokitOf({ tracker }: Pick<LeadWorld, 'tracker'>): Octokit {
  return new Octokit({ baseUrl: tracker.url, auth: SANDBOX_ADMIN_TOKEN });
}

/** Calls that the tracker has counted against the quota since its log was cleared. */
export async function billedCalls(trackerUrl: string): Promise<number> {
  const calls = await readControl<{ billed: boolean }>(trackerUrl, 'calls');
  return calls.filter(({ billed }) => billed).length;
}

const FILTERS = [
  '',
  'label=partner-program',
  'label=priority:+low',
  'state=all',
  'state=closed',
  'label=priority:+high',
  'limit=20',
  'limit=100&state=all',
  'label=partner-program,priority:+medium',
];

/** The query of the `at`-th reader: a filter, or what changed in the last minute. */
export function queryOf(at: number): string {
  return FILTERS[at % (FILTERS.length + 1)] ?? `state=all&since=${aMinuteAgo()}`;
}

function aMinuteAgo(): string {
  return new Date(Math.floor((Date.now() - 60_000) / 1000) * 1000).toISOString();
}

import {
  type Webhook,
  inspectAppHook,
  inspectRepositoryHooks,
} from '#adapters/github/inspection.ts';
import { isTrackerFailure } from '#adapters/github/transport/response.ts';
import { GITHUB_WEBHOOK_PATH } from '#http/routes/github-webhook.ts';
import type { Config } from '#config/schema/schema.ts';
import { TRACKER, type TrafficCount } from '#partners/traffic.ts';
import { toRfc3339 } from '#shared/clock.ts';
import { decapitalize, entryOf } from '#shared/outcomes/entry.ts';
import { webhookRefusals } from '#shared/outcomes/callers.ts';
import { failed, type Finding, ok, warning } from './finding.ts';
import type { Tracker } from '#compose/tracker.ts';
import { explainFailure } from './check-tracker.ts';

const SUBJECT = 'webhook';
const NEEDED_EVENT = 'issues';
const WANTED_EVENTS = ['label', 'repository'];

/**
 * Looks whether the tracker's webhook leads here and gets through: by the tracker's own list where a
 * credential may see it, else by the deliveries that came. Tells no secret of a hook's address. Before a
 * service has worked on the store (`hasServed`) nothing can have come through.
 */
export async function checkWebhook({
  config,
  tracker,
  traffic,
  hasServed,
}: {
  config: Config;
  tracker: Tracker;
  traffic: readonly TrafficCount[];
  hasServed: boolean;
}): Promise<Finding[]> {
  const wanted = wantedUrl(config);
  try {
    const hooks = await listHooks(tracker);
    if (!hooks) return [checkTraffic(traffic, hasServed, wanted)];
    const [hook] = hooks.filter(({ url }) => leadsHere(url, wanted)).sort(activeFirst);
    if (!hook) return [noHook(hooks, wanted)];
    const findings = [...checkSettings(hook), ...checkDelivery(hook, hasServed)];
    return findings.length > 0 ? findings : [ok(SUBJECT, describe(hook))];
  } catch (error) {
    if (!isTrackerFailure(error)) throw error;
    const [detail, fix] = explainFailure(error);
    return [warning(SUBJECT, `The hooks cannot be read: ${detail}`, fix)];
  }
}

/** Of the repository and of the App, as far as any credential may see them; undefined: none may. */
async function listHooks(tracker: Tracker): Promise<Webhook[] | undefined> {
  const appClient = tracker.appClient();
  const appHook = appClient && (await inspectAppHook(appClient));
  let hooks: Webhook[] | undefined;
  for (const client of [tracker.client, tracker.adminClient()])
    if (client && !hooks)
      hooks = await inspectRepositoryHooks(client, tracker.repository.name, isOurs);
  if (!hooks && !appHook) return undefined;
  return [...(appHook ? [appHook] : []), ...(hooks ?? [])];
}

function wantedUrl({ server }: Config): string | undefined {
  return server.publicUrl === undefined ? undefined : `${server.publicUrl}${GITHUB_WEBHOOK_PATH}`;
}

/** Without a public address any hook that ends in our path is taken for ours. */
function leadsHere(url: string, wanted: string | undefined): boolean {
  return wanted === undefined ? isOurs(url) : url === wanted;
}

function isOurs(url: string): boolean {
  return URL.parse(url)?.pathname.endsWith(GITHUB_WEBHOOK_PATH) ?? false;
}

function activeFirst(left: Webhook, right: Webhook): number {
  return Number(right.isActive) - Number(left.isActive);
}

function noHook(hooks: readonly Webhook[], wanted: string | undefined): Finding {
  const stray = hooks.find(({ url }) => isOurs(url));
  const target = wanted ?? `server.publicUrl + ${GITHUB_WEBHOOK_PATH}`;
  if (stray)
    return failed(
      SUBJECT,
      `It leads to ${withoutSecrets(stray.url)}, not to ${target}.`,
      'Correct its payload URL, or server.publicUrl.',
    );
  return warning(
    SUBJECT,
    `None leads here (of ${hooks.length}): changes are seen after leads.freshFor only.`,
    `Add one: payload URL ${target}, content type application/json, the secret, events Issues, Labels, Repositories.`,
  );
}

function checkSettings({ isActive, contentType, hasSecret, events }: Webhook): Finding[] {
  const missing = WANTED_EVENTS.filter((event) => !takes(events, event));
  const problems: (Finding | false)[] = [
    !isActive && failed(SUBJECT, 'It is not active.', 'Tick "Active" in its settings.'),
    contentType !== 'json' &&
      failed(
        SUBJECT,
        `Its content type is ${contentType}, which is refused.`,
        'Choose application/json.',
      ),
    !hasSecret &&
      failed(
        SUBJECT,
        'It has no secret, so that every delivery is refused.',
        'Give it one of tracker.webhookSecrets.',
      ),
    !takes(events, NEEDED_EVENT) &&
      failed(SUBJECT, 'It lacks the event issues.', 'Subscribe it to Issues.'),
    missing.length > 0 &&
      warning(
        SUBJECT,
        `It lacks the events ${missing.join(', ')}: renamed labels or repositories are seen late.`,
        'Subscribe it to Labels and Repositories.',
      ),
  ];
  return problems.filter((problem) => problem !== false);
}

function takes(events: readonly string[], event: string): boolean {
  return events.includes(event) || events.includes('*');
}

/** Statuses that the tracker, or a proxy in front, notes for a service that does not listen. */
const NOBODY_THERE = new Set([404, 502, 503, 504]);

function checkDelivery({ lastDelivery }: Webhook, hasServed: boolean): Finding[] {
  if (!lastDelivery || (lastDelivery.status >= 200 && lastDelivery.status < 300)) return [];
  if (!hasServed && NOBODY_THERE.has(lastDelivery.status))
    return [
      warning(
        SUBJECT,
        'It leads here; the service is not started yet.',
        'Start it, and run doctor again.',
      ),
    ];
  const { at, status } = lastDelivery;
  const remedy =
    status === 401
      ? 'Give it a secret that stands in tracker.webhookSecrets'
      : 'See its recent deliveries on the tracker, and that the service can be reached from there';
  return [
    failed(
      SUBJECT,
      `The last delivery, at ${at}, ended with ${status}.`,
      `${remedy}; then redeliver.`,
    ),
  ];
}

function describe({ owner, lastDelivery }: Webhook): string {
  const whose = owner === 'app' ? "The App's leads here" : 'Leads here';
  if (!lastDelivery) return `${whose}; nothing was delivered lately.`;
  return `${whose}; the last delivery, at ${lastDelivery.at}, got ${lastDelivery.status}.`;
}

/** Nobody may see the hooks: what came here in the last 30 days tells nearly as much. */
function checkTraffic(
  traffic: readonly TrafficCount[],
  hasServed: boolean,
  wanted: string | undefined,
): Finding {
  const lastOf = (kind: TrafficCount['kind']): TrafficCount | undefined =>
    traffic
      .filter((count) => count.sender === TRACKER && count.kind === kind)
      .toSorted((left, right) => right.lastAt - left.lastAt)[0];
  const [verified, refused] = [lastOf('verified'), lastOf('refused')];
  const byHand = `Look at it by hand (Settings, Webhooks; of an App: its settings, Advanced): payload URL ${wanted ?? `server.publicUrl + ${GITHUB_WEBHOOK_PATH}`}, content type application/json, a secret of tracker.webhookSecrets, events Issues, Labels, Repositories, active, the last delivery green. With Webhooks: read doctor does that.`;
  if (refused && refused.lastAt > (verified?.lastAt ?? 0)) return refusedFinding(refused);
  if (verified)
    return ok(
      SUBJECT,
      `The last delivery came at ${toRfc3339(verified.lastAt)}; the credential may not see the hook itself.`,
    );
  return warning(
    SUBJECT,
    `The credential may not see hooks, and no delivery came in the last 30 days${hasServed ? '.' : ': the service is not started yet.'}`,
    byHand,
  );
}

function refusedFinding({ detail, lastAt }: TrafficCount): Finding {
  const unknown = { title: detail, next: 'See the log: it names the reason.' };
  const { title, next } = entryOf<typeof unknown>(webhookRefusals, detail) ?? unknown;
  return failed(
    SUBJECT,
    `The last delivery, at ${toRfc3339(lastAt)}, was refused: ${decapitalize(title)}.`,
    next,
  );
}

/** An address can hold a password or a token. */
function withoutSecrets(url: string): string {
  const parsed = URL.parse(url);
  return parsed ? `${parsed.origin}${parsed.pathname}` : 'another address';
}

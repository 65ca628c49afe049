/** Examines from near to far: configuration, store, tracker, issuer (`trackport doctor`). */
import { readFeedEnd } from '#leads/lead-feed/stored-changes.ts';
import { existsSync } from 'node:fs';
import { assertCursors } from '#adapters/github/inspection.ts';
import { isTrackerFailure } from '#adapters/github/transport/response.ts';
import { inspectIssuer } from '#adapters/jose/key-set.ts';
import type { Config } from '#config/schema/schema.ts';
import { configWarnings } from '#config/warnings.ts';
import { type Clock, MINUTE, SECOND, toRfc3339 } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import { partnerStates } from '#shared/outcomes/callers.ts';
import { capitalize } from '#shared/outcomes/entry.ts';
import { silentLog } from '#shared/log.ts';
import { createReloadable } from '#config/reload.ts';
import { failed, type Finding, ok, warning } from './finding.ts';
import { formatDuration } from '#shared/text/units.ts';
import { ConfigError, renderProblem } from '#config/problems.ts';
import { secretKeyPath } from '#compose/secret-key.ts';
import { readHeard, silentSince } from '#partners/silence.ts';
import { readTraffic, type TrafficCount } from '#partners/traffic.ts';
import { createTracker, type Tracker } from '#compose/tracker.ts';
import { checkForm } from './check-form.ts';
import { checkTracker, explainFailure } from './check-tracker.ts';
import { checkWebhook } from './check-webhook.ts';
import { StartError, StoreMissing } from '#compose/start-error.ts';
import { openStore, type Store } from '#compose/store.ts';
import type { ServerInfo } from '#adapters/postgres/server.ts';

/** Opens all that it looks at itself, so that a store that fails is a finding like any other. */
export async function examine(
  { config, clock }: { config: Config; clock: Clock },
  options: { fix: boolean },
): Promise<readonly Finding[]> {
  const tracker = createTracker({ settings: createReloadable(config), clock });
  const trackerFindings = await checkTracker({ config, tracker, clock }, options);
  const canRead = trackerFindings.length > 1;
  const store = await checkStore(config, clock);
  const hasSecret = config.tracker.webhookSecrets.length > 0;
  const { traffic, hasServed } = store;
  return [
    ...checkConfig(config, clock),
    ...store.findings,
    checkWebhookSecrets(config),
    ...trackerFindings,
    ...(canRead && hasSecret ? await checkWebhook({ config, tracker, traffic, hasServed }) : []),
    ...(canRead ? await checkIssues(config, tracker) : []),
    ...(config.identity ? [await checkIssuer(config.identity, clock)] : []),
  ];
}

function checkConfig(config: Config, clock: Clock): Finding[] {
  const warnings = configWarnings(config, clock.now()).filter(
    ({ key }) => key !== 'tracker.webhookSecrets',
  );
  return [
    ok('configuration', 'Valid.'),
    ...warnings.map(({ key, text, fix }) => warning(key, `${capitalize(text)}.`, fix)),
    ...checkMetrics(config),
  ];
}

const LOOPBACK = /^(localhost|127\.[\d.]+|\[?::1\]?)$/;

/**
 * On the public port `/metrics` tells everybody how much there is to do, and how the service fails. A proxy
 * on this machine makes a port of 127.0.0.1 public, too.
 */
function checkMetrics({ server }: Config): Finding[] {
  const isPublic = (host: string | undefined): boolean =>
    host !== undefined && host !== '' && !LOOPBACK.test(host);
  const { publicUrl = '', host } = server;
  const reached = [host, URL.parse(publicUrl)?.hostname].find(isPublic);
  if (server.opsPort !== undefined || reached === undefined) return [];
  return [
    warning(
      'server.opsPort',
      `/metrics is served to everybody who reaches ${reached}.`,
      'Set server.opsPort, or let the proxy in front refuse /metrics.',
    ),
  ];
}

const WEBHOOK_SECRET_CHARACTERS_MIN = 16;

function checkWebhookSecrets({ tracker, leads }: Config): Finding {
  const subject = 'webhook secret';
  const fix =
    'Make one with `openssl rand -hex 32` and give it to the webhook and to tracker.webhookSecrets.';
  if (tracker.webhookSecrets.length === 0)
    return warning(
      subject,
      `None: a change on the tracker is seen after up to ${leads.freshFor / 1000} s.`,
      fix,
    );
  const isShort = tracker.webhookSecrets.some(
    (secret) => secret.reveal().length < WEBHOOK_SECRET_CHARACTERS_MIN,
  );
  return isShort
    ? warning(subject, 'Can be guessed: it is short.', fix)
    : ok(subject, 'Configured.');
}

async function checkIssues({ leads }: Config, tracker: Tracker): Promise<Finding[]> {
  try {
    await assertCursors(tracker);
    return await checkForm(tracker.leadTracker, leads);
  } catch (error) {
    const failure = isTrackportError(error) ? error.cause : error;
    if (!isTrackerFailure(failure)) throw error;
    const [detail, fix] = explainFailure(failure);
    return [failed('issue form', `The issues cannot be read: ${detail}`, fix)];
  }
}

/** The issuer of bearer tokens: its discovery document and its keys, as the service reads them. */
async function checkIssuer(
  { issuer, jwksUri }: NonNullable<Config['identity']>,
  clock: Clock,
): Promise<Finding> {
  const { keys, failure } = await inspectIssuer({
    issuer,
    keySetUrl: jwksUri,
    clock,
    log: silentLog,
  });
  const subject = `issuer ${issuer}`;
  return failure === undefined
    ? ok(subject, `Found, with ${keys} key${keys === 1 ? '' : 's'}.`)
    : failed(
        subject,
        failure,
        'Write identity.issuer exactly as the issuer does, and see that this machine can reach it.',
      );
}

type StoreReport = {
  findings: Finding[];
  /** Deliveries of the last 30 days; none when the store cannot be read. */
  traffic: readonly TrafficCount[];
  /** True when a service has found its repository with it. */
  hasServed: boolean;
};

const KEY_FIX = 'Mend that, or put the former key back: nothing is lost then.';
const STORE_FIX =
  'Mend that. Where a new store is the way, too, it knows of no deletion of this one: docs/upgrade.md.';
const NO_STORE =
  'There is none yet: the first start makes it. If there was one, bring it back before: a new one knows of no deletion.';

/** Reads and writes the store, which has to be filled with the key that is configured. */
async function checkStore(config: Config, clock: Clock): Promise<StoreReport> {
  const unreadable = (finding: Finding): StoreReport => ({
    findings: [finding],
    traffic: [],
    hasServed: true,
  });
  try {
    // A database is there before its first start, and so are settings of its server that have to be mended before.
    const mustExist = config.store.url.engine === 'sqlite';
    const store = await openStore({ config, clock, log: silentLog, mustExist });
    try {
      await store.writes.checkRoom();
      const detail = `Can be read and written.${secretKeyRemark(config)}`;
      const findings = [ok('store', detail), ...(await checkServer(store, clock))];
      const heard = await readHeard(store.database);
      findings.push(...checkSilence(config, heard, clock.now()));
      const hasServed = (await readFeedEnd(store.leadsBy(clock))) !== undefined;
      return { findings, hasServed, traffic: await readTraffic(store.database, 0) };
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof ConfigError)
      return unreadable(failed('secret key', error.problems.map(renderProblem).join(' '), KEY_FIX));
    if (error instanceof StoreMissing)
      return {
        findings: [ok('store', NO_STORE)],
        traffic: [],
        hasServed: false,
      };
    if (error instanceof StartError) return unreadable(failed('store', error.message, STORE_FIX));
    if (!isTrackportError(error)) throw error;
    return unreadable(failed('store', error.detail ?? error.code, STORE_FIX));
  }
}

/** Says which partners are silent that are expected to send. Of one that no service has had in its file nothing is known. */
function checkSilence(
  { partners }: Config,
  heard: Awaited<ReturnType<typeof readHeard>>,
  now: number,
): Finding[] {
  return Object.entries(partners).flatMap(([id, partner]) => {
    const { enabled, expectEvery } = partner;
    const heardAt = heard.get(id);
    if (!enabled || expectEvery === undefined || heardAt === undefined) return [];
    const subject = `partner ${id}`;
    const rhythm = `expected every ${formatDuration(expectEvery)}`;
    const { next } = partnerStates['fallen-silent'];
    const since = silentSince(partner, heardAt, now);
    return since === undefined
      ? [ok(subject, `Not silent: something is ${rhythm}.`)]
      : [warning(subject, `Nothing accepted since ${toRfc3339(since)}, and ${rhythm}.`, next)];
  });
}

function secretKeyRemark({ secretKey, store }: Config): string {
  if (secretKey || store.url.engine !== 'sqlite') return '';
  const path = secretKeyPath(store.url.path);
  if (!existsSync(path)) return '';
  return ` Back up ${path} with it: losing the key costs cursors, sessions, events that wait, and a new crawl.`;
}

/** An instance takes its pool, and the connection that listens. */
const CONNECTIONS_OF_INSTANCE = 11;
const SUBJECT = 'store server';
const CLOCK_DIFFERENCE_MAX_MS = 5 * SECOND;

/** Looks whether the server of a store suits it; finds nothing for a store without one. @throws {store-unavailable} */
export async function checkServer(
  { readServer }: Pick<Store, 'readServer'>,
  clock: Pick<Clock, 'now'>,
): Promise<Finding[]> {
  if (!readServer) return [];
  const server = await readServer();
  const problems = problemsOf(server, Math.abs(server.now - clock.now()));
  if (problems.length > 0) return problems;
  const { version, connectionsMax } = server;
  const instances = Math.floor(connectionsMax / CONNECTIONS_OF_INSTANCE);
  return [
    ok(
      SUBJECT,
      `PostgreSQL ${version}. ${connectionsMax} connections: enough for ${instances} instance${instances === 1 ? '' : 's'}.`,
    ),
  ];
}

function problemsOf(
  { mayCreate, connectionsMax, isDurable }: ServerInfo,
  differenceMs: number,
): Finding[] {
  return [
    !isDurable &&
      failed(
        SUBJECT,
        'It does not wait for its disk (fsync is off): acknowledged deletions are lost when the machine fails.',
        'Set fsync = on.',
      ),
    !mayCreate &&
      warning(
        SUBJECT,
        'Its user may not create tables: the migrations of a later version fail.',
        'GRANT CREATE ON SCHEMA public TO the user of store.url.',
      ),
    connectionsMax < CONNECTIONS_OF_INSTANCE &&
      warning(
        SUBJECT,
        `It gives ${connectionsMax} connections, and an instance takes up to ${CONNECTIONS_OF_INSTANCE}: calls wait for one, and then get 503.`,
        'Raise max_connections, or the limit of the role or the database.',
      ),
    differenceMs > CLOCK_DIFFERENCE_MAX_MS &&
      warning(
        SUBJECT,
        `Its clock is ${roundedTime(differenceMs)} away from that of this machine.`,
        'Set both by NTP.',
      ),
  ].filter((finding) => finding !== false);
}

function roundedTime(ms: number): string {
  return ms < MINUTE ? `${Math.round(ms / SECOND)} s` : `${Math.round(ms / MINUTE)} min`;
}

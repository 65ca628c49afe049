import type { TrackerCredential } from '#adapters/github/transport/auth.ts';
import {
  createTrackerClient,
  type TrackerClient,
  type TrackerExchange,
} from '#adapters/github/transport/client.ts';
import { createLeadTracker } from '#adapters/github/lead-tracker.ts';
import {
  createWebhookVerifier,
  type WebhookSource,
  type WebhookVerifier,
} from '#adapters/github/webhook.ts';
import { isHeavy, refuseThread, type Thread } from '#adapters/threads/thread.ts';
import {
  createRepository,
  parseRepositoryName,
  type Repository,
} from '#adapters/github/repository.ts';
import type { Config } from '#config/schema/schema.ts';
import { changedKeys, type Reloadable } from '#config/reload.ts';
import type { TrackerWebhook } from '#http/context.ts';
import type { Leads } from '#leads/index.ts';
import type { LeadTracker } from '#leads/lead-tracker.ts';
import { TRACKER, type Traffic } from '#partners/traffic.ts';
import { transferablesOf } from '#shared/bytes.ts';
import { type Clock, SECOND, type TrackerTime } from '#shared/clock.ts';
import { type Log, silentLog } from '#shared/log.ts';
import { VERSION_AND_COMMIT } from '#shared/program.ts';
import type { Tracing } from '#shared/tracing.ts';
import {
  askTracker,
  createTrackerWatch,
  type TrackerCondition,
  type TrackerWatch,
} from '#adapters/github/tracker-watch.ts';
import { createTrackerClock } from '#adapters/github/tracker-clock.ts';
import type * as bodyFunctions from './body-thread.ts';

/** The configured repository on the tracker. */
export type Tracker = {
  client: TrackerClient;
  /** With the token for the action `delete`, when there is one. */
  adminClient: () => TrackerClient | undefined;
  /** Speaks for the App itself; undefined when the credential is a token. Made anew at each call. */
  appClient: () => TrackerClient | undefined;
  repository: Repository;
  leadTracker: LeadTracker;
  /** Health of the latest calls. */
  condition(): TrackerCondition;
  /** The last failure of a call since the start; `at` in ms since the Unix epoch. */
  lastFailure: TrackerWatch['lastFailure'];
  /** Tells people that the version of its API ends which we speak; undefined until it says so. */
  versionNotice(): string | undefined;
  /** The time as the tracker has it: for what is held against instants that it told. */
  clock: TrackerTime;
  /** Latest time of creation of an issue of this moment, as it tells; ms since the Unix epoch. */
  latestCreation(): number;
  /** The time by its clock or this machine's, whichever is behind; undefined before its first response. */
  earliestNow(): number | undefined;
  /** Lead of its clock on this machine's, in ms; undefined before its first response. */
  clockSkewMs(): number | undefined;
  /** Finds out what time it is there, unless a response has told; every half minute at most. */
  learnTime(): void;
  /** To be called after the settings were replaced: a new credential is tried at once. */
  onReload(): void;
};

type TrackerOptions = {
  /** Credentials are taken anew when they are replaced. */
  settings: Reloadable<Pick<Config, 'tracker'>>;
  clock: Clock;
  onExchange?: (call: TrackerExchange) => void;
  /** Without it calls are not traced. */
  tracing?: Tracing | undefined;
  /** Ends every call, for a stop that can wait no longer. */
  cut?: AbortSignal;
  /** Default: nobody is told that the clocks differ. */
  log?: Log;
};

/** Makes the clients of the configured credentials. Nothing is asked of the tracker before one of them is called. */
export function createTracker(options: TrackerOptions): Tracker {
  const { settings, cut, tracing, log = silentLog } = options;
  const trackerClock = createTrackerClock(options.clock, log);
  const { clock: trackerTime } = trackerClock;
  const onExchange = (call: TrackerExchange): void => {
    trackerClock.note(call);
    watch.noteVersion(call);
    options.onExchange?.(call);
    if (tracing) traceCall(tracing, call);
  };
  const { apiUrl, requestTimeout, repository: name } = settings.current().tracker;
  const ask = (): Promise<void> => askTracker(leadTracker, trackerTime);
  const watch = createTrackerWatch({ clock: trackerTime, ask, cut });
  const clientFor = (credential: TrackerCredential): TrackerClient =>
    createTrackerClient({
      apiUrl,
      clock: trackerTime,
      userAgent: `trackport/${VERSION_AND_COMMIT}`,
      requestTimeoutMs: requestTimeout,
      credential,
      onExchange,
      cut,
    });
  const watchedClientFor = (credential: TrackerCredential): TrackerClient =>
    watchCredential(clientFor(credential), watch);
  const main = settings.derive<Held>(({ tracker }, former) =>
    hold(watchedClientFor, credentialOf(tracker.auth), former),
  );
  const admin = settings.derive<Held | undefined>(
    ({ tracker: { adminToken } }, former) =>
      adminToken && hold(clientFor, { token: adminToken }, former),
  );
  const client = latest(() => main().client);
  const repository = watchRepository(
    createRepository(client, parseRepositoryName(name), trackerTime),
    watch,
  );
  const leadTracker = watch.noteCalls(createLeadTracker(client, repository));
  return {
    client,
    adminClient: () => admin()?.client,
    appClient: () => {
      const credential = credentialOf(settings.current().tracker.auth);
      return 'token' in credential ? undefined : clientFor({ ...credential, isForApp: true });
    },
    repository,
    leadTracker,
    condition: () => watch.condition(),
    lastFailure: () => watch.lastFailure(),
    versionNotice: () => watch.versionNotice(),
    clock: trackerTime,
    latestCreation: () => trackerClock.latestNow(),
    earliestNow: () => trackerClock.earliestNow(),
    clockSkewMs: () => trackerClock.skewMs(),
    learnTime: createTimeQuestion(trackerClock, ask),
    onReload: () => watch.askAgain(),
  };
}

const TIME_ASKED_EVERY_MS = 30 * SECOND;

/** @see Tracker.learnTime */
function createTimeQuestion(
  trackerClock: ReturnType<typeof createTrackerClock>,
  ask: () => Promise<void>,
): () => void {
  let askedAtMs = -Infinity;
  return () => {
    const nowMs = trackerClock.clock.monotonicMs();
    if (trackerClock.skewMs() !== undefined || nowMs - askedAtMs < TIME_ASKED_EVERY_MS) return;
    askedAtMs = nowMs;
    void ask();
  };
}

/** Makes a span of a call to the tracker, by its route's template, below what asked for it. */
function traceCall(
  tracing: Tracing,
  { route, status, failure, isBilled, durationMs }: TrackerExchange,
): void {
  const [method = '', template = ''] = route.split(' ');
  const span = tracing.start(route, {
    kind: 'client',
    startedAgoMs: durationMs,
    attributes: {
      'http.request.method': method,
      'url.template': template,
      'trackport.is_billed': isBilled,
      ...(status !== undefined && { 'http.response.status_code': status }),
    },
  });
  span.end(failure ?? (status !== undefined && status >= 400 ? String(status) : undefined));
}

function watchCredential(client: TrackerClient, watch: TrackerWatch): TrackerClient {
  return {
    ...client,
    request: (...call) => watch.noteCredential(client.request(...call)),
  };
}

/** Its success says little: issues can be switched off, or kept from the credential. */
function watchRepository(repository: Repository, watch: TrackerWatch): Repository {
  return { ...repository, identify: () => watch.noteFailure(repository.identify()) };
}

/** A client with what it was made for. */
type Held = { credential: TrackerCredential; client: TrackerClient };

/** Keeps the client while its credential stays: it knows its rate limits. */
function hold(
  clientFor: (credential: TrackerCredential) => TrackerClient,
  credential: TrackerCredential,
  former: Held | undefined,
): Held {
  if (former && changedKeys(former.credential, credential).length === 0) return former;
  return { credential, client: clientFor(credential) };
}

/** Each call goes to the client of its time, and ends there. */
function latest(client: () => TrackerClient): TrackerClient {
  return {
    request: (route, parameters, options) => client().request(route, parameters, options),
    quota: () => client().quota(),
    get credentialKind() {
      return client().credentialKind;
    },
  };
}

function credentialOf(auth: Config['tracker']['auth']): TrackerCredential {
  const { token, appId, installationId, privateKey } = auth;
  if (token) return { token };
  if (appId === undefined || installationId === undefined || !privateKey)
    throw new TypeError('the configuration has no credential for the tracker');
  return { appId, installationId, privateKey };
}

/** Deliveries of the tracker: verified, put on record, and taken to the leads. */
export function createTrackerWebhook({
  settings,
  tracker: { repository },
  leads,
  traffic,
  thread,
}: {
  settings: Reloadable<Pick<Config, 'tracker'>>;
  tracker: Pick<Tracker, 'repository'>;
  leads: Pick<Leads, 'applyEvent' | 'settled'>;
  traffic: Pick<Traffic, 'record'>;
  thread: Thread<Pick<typeof bodyFunctions, 'verify'>>;
}): TrackerWebhook {
  const verifier = settings.derive(({ tracker }) =>
    createDeliveryVerifier(thread, {
      secrets: tracker.webhookSecrets,
      name: repository.name,
      repositoryId: () => repository.id(),
    }),
  );
  return {
    verify: async (delivery) => {
      const event = await verifier().verify(delivery);
      traffic.record(TRACKER, 'verified', '');
      return event;
    },
    onTrackerEvent: (event) => leads.applyEvent(event),
    onRefused: (reason) => traffic.record(TRACKER, 'refused', reason),
    settled: () => leads.settled(),
  };
}

/**
 * Verifies without holding up anybody: a large delivery is verified and read in the thread of bodies, behind those of
 * partners. Its bytes are transferred, and gone afterwards. Throws `overloaded`, too, when the thread is. It stands
 * here because one adapter (of the tracker) knows nothing of another (of threads).
 */
export function createDeliveryVerifier(
  thread: Thread<Pick<typeof bodyFunctions, 'verify'>>,
  source: WebhookSource,
): WebhookVerifier {
  const here = createWebhookVerifier(source);
  const secrets = source.secrets.map((secret) => secret.reveal());
  return {
    verify: (delivery) => {
      const { rawBody } = delivery;
      if (!isHeavy(rawBody)) return here.verify(delivery);
      const { name } = source;
      const job = { secrets, name, repositoryId: source.repositoryId?.(), delivery };
      return thread.run('verify', job, { transfer: transferablesOf(rawBody) }).catch(refuseThread);
    },
  };
}

import { createSignIn } from '#access/sessions/sign-in.ts';
import { createSessions, type Sessions } from '#access/sessions/sessions.ts';
import { issueAddressOf, readLabels } from '#adapters/github/repository.ts';
import { createIssuerClient } from '#adapters/openid-client/issuer-client.ts';
import type { Config } from '#config/schema/schema.ts';
import type { FixedConfig } from '#config/reload.ts';
import type { Area, BearerUseCases } from '#http/context.ts';
import type { WorkerStatus } from '#partners/worker/worker.ts';
import type { PortalContext } from '#portal/context.ts';
import { addPortal } from '#portal/portal.ts';
import { createPortalCookies } from '#portal/routes/cookies.ts';
import { createFormTokens } from '#portal/routes/form-bodies.ts';
import { HOUR, SECOND, untilAborted } from '#shared/clock.ts';
import { deriveKey } from '#shared/crypto/hash.ts';
import { createSealer } from '#shared/crypto/sealer.ts';
import { errorFields } from '#shared/log.ts';
import { createLastKnown } from '#shared/resilience/last-known.ts';
import { createRepeating, type Repeating } from '#shared/resilience/background.ts';
import type { App } from './app.ts';

/** Without these there is no portal. */
type Served = BearerUseCases & {
  portal: NonNullable<FixedConfig['portal']>;
  rules: NonNullable<Config['identity']>;
  readiness: PortalContext['readiness'];
};

const PURGE_EVERY_MS = HOUR;
/** A page does not wait longer for the tracker: it can do without its labels. */
const LABELS_WAIT_MS = 1500;
const DEAD_LETTERS_EVERY_MS = 10 * SECOND;

/** The portal on the open store and the issuer of the service. */
export async function composePortal(app: App, served: Served): Promise<Area> {
  const { config, settings, store, clock, cleanup, bodies } = app;
  const { portal, rules, catalog, idempotency, readiness } = served;
  const closed = new AbortController();
  cleanup.defer(() => closed.abort());
  const sealer = createSealer(deriveKey(store.secretKey, 'sessions'));
  const sessions = createSessions({ db: store.database, sealer, clock });
  const purge = createPurge(sessions, app);
  purge.start();
  cleanup.defer(() => purge.stop());
  return (scope, http) =>
    addPortal(scope, {
      ...http,
      sessions,
      signIn: composeSignIn(app, served, {
        publicUrl: http.publicUrl,
        sessions,
        closed: closed.signal,
      }),
      cookies: createPortalCookies(http.publicUrl),
      sealer,
      issuer: rules.issuer,
      audience: rules.audience,
      formTokens: createFormTokens(deriveKey(store.secretKey, 'forms')),
      parseForm: bodies.form,
      idempotency,
      repository: config.tracker.repository,
      deadLetters: deadLettersOf(app),
      catalog,
      leadFeed: app.leads.leadFeed,
      traffic: app.traffic,
      tracker: shownTracker(app),
      readiness,
      hasReadyz: config.server.opsPort === undefined,
      defaultLimit: () => settings.current().consumers.limitPerMinute,
      readSpecText: bodies.specText,
      portalClientId: portal.clientId,
    });
}

function shownTracker({ config, settings, tracker }: App): PortalContext['tracker'] {
  const { apiUrl, repository } = config.tracker;
  return {
    quota: tracker.leadTracker.quota,
    lastFailure: () => tracker.lastFailure(),
    hasWebhookSecret: () => settings.current().tracker.webhookSecrets.length > 0,
    labels: () => untilAborted(readLabels(tracker), AbortSignal.timeout(LABELS_WAIT_MS)),
    ownLabels: () => [config.leads.approvedLabel, settings.current().deletions.deletedLabel],
    issueAddress: issueAddressOf(apiUrl, repository),
  };
}

/** Beside Receipts on every page: as good as a look at the store for each of them. */
function deadLettersOf({ partners, clock }: App) {
  const read = (): Promise<WorkerStatus> => partners.workerStatus();
  const status = createLastKnown({ read, clock, everyMs: DEAD_LETTERS_EVERY_MS });
  return (): number | undefined => status()?.deadLetters;
}

type Opened = { publicUrl: () => string; sessions: Sessions; closed: AbortSignal };

function composeSignIn(
  { settings, clock, log }: App,
  { portal, rules, verifier }: Served,
  { publicUrl, sessions, closed }: Opened,
) {
  const { issuer, audience, clockTolerance: clockToleranceMs } = rules;
  const { clientId, scopes, resource } = portal;
  return createSignIn({
    issuer: createIssuerClient({
      issuer,
      clientId,
      clientSecret: () => settings.current().portal?.clientSecret?.reveal(),
      scopes,
      audience,
      resource,
      redirectUri: () => `${publicUrl()}/portal/callback`,
      signedOutUri: () => `${publicUrl()}/portal/signed-out`,
      clockToleranceMs,
      clock,
      closed,
    }),
    clientId,
    verifier,
    sessions,
    clock,
    log,
  });
}

/** Sessions that are over count no more, so that they may stay for a while; a failure is tried again. */
function createPurge(sessions: Sessions, { clock, log }: App): Repeating {
  const purge = async (): Promise<void> => {
    await sessions
      .purge()
      .catch((error: unknown) => log.warn(errorFields(error), 'ended sessions were not purged'));
  };
  return createRepeating(purge, PURGE_EVERY_MS, clock);
}

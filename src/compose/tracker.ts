import type { TrackerCredential } from '#adapters/github/auth.ts';
import { createTrackerClient, type TrackerClient } from '#adapters/github/client.ts';
import { createLeadTracker } from '#adapters/github/lead-tracker.ts';
import {
  createRepository,
  parseRepositoryName,
  type Repository,
} from '#adapters/github/repository.ts';
import { isTrackerFailure } from '#adapters/github/failure.ts';
import type { TrackerCall } from '#adapters/github/wire.ts';
import type { Config } from '#config/schema.ts';
import type { LeadTracker } from '#leads/lead-tracker.ts';
import type { Clock } from '#shared/clock.ts';

import {
  createTrackerProbe,
  createTrackerWatch,
  type TrackerCondition,
  type TrackerWatch,
} from './tracker-condition.ts';
import packageFile from '../../package.json' with { type: 'json' };

/** The configured repository on the tracker. */
export type TrackerParts = {
  client: TrackerClient;
  /** With the token for the action `delete`. */
  adminClient?: TrackerClient;
  repository: Repository;
  leadTracker: LeadTracker;
  /** How calls have gone lately. */
  condition(): TrackerCondition;
  /** Finds out whether the tracker's trouble is over, now and then. */
  probe(): void;
};

export type TrackerDeps = {
  config: Pick<Config, 'tracker'>;
  clock: Clock;
  onCall?: (call: TrackerCall) => void;
  /** Ends every call, for a stop that can wait no longer. */
  cut?: AbortSignal;
};

export function createTrackerParts(deps: TrackerDeps): TrackerParts {
  const { config, clock, onCall, cut } = deps;
  const { apiUrl, requestTimeout, adminToken, repository: name } = config.tracker;
  const watch = createTrackerWatch(clock);
  const clientFor = (credential: TrackerCredential): TrackerClient =>
    createTrackerClient({
      apiUrl,
      clock,
      userAgent: `trackport/${packageFile.version}`,
      requestTimeoutMs: requestTimeout,
      credential,
      ...(onCall && { onCall }),
      ...(cut && { cut }),
    });
  const client = watchCredential(clientFor(credentialOf(config.tracker.auth)), watch);
  const repository = watchRepository(
    createRepository({ client, clock, name: parseRepositoryName(name) }),
    watch,
  );
  const leadTracker = watch.watch(createLeadTracker({ client, repository }));
  return {
    client,
    ...(adminToken && { adminClient: clientFor({ token: adminToken }) }),
    repository,
    leadTracker,
    condition: () => watch.condition(),
    probe: createTrackerProbe(leadTracker, clock),
  };
}

/** Every call shows whether the credential is taken; what else fails can be about one issue. */
function watchCredential(client: TrackerClient, watch: TrackerWatch): TrackerClient {
  return {
    ...client,
    request: (...call) =>
      client.request(...call).catch((error: unknown) => {
        if (isTrackerFailure(error, 'unauthorized')) watch.failed(error);
        throw error;
      }),
  };
}

/** Its success says little: issues can be switched off, or kept from the credential. */
function watchRepository(repository: Repository, watch: TrackerWatch): Repository {
  return {
    ...repository,
    identify: () =>
      repository.identify().catch((error: unknown) => {
        watch.failed(error);
        throw error;
      }),
  };
}

function credentialOf(auth: Config['tracker']['auth']): TrackerCredential {
  const { token, appId, installationId, privateKey } = auth;
  if (token) return { token };
  if (appId === undefined || installationId === undefined || !privateKey)
    throw new TypeError('the configuration has no credential for the tracker');
  return { appId, installationId, privateKey };
}

import type { TrackerCredential } from '#adapters/github/auth.ts';
import { createTrackerClient, type TrackerClient } from '#adapters/github/client.ts';
import { createLeadTracker } from '#adapters/github/lead-tracker.ts';
import {
  createRepository,
  parseRepositoryName,
  type Repository,
} from '#adapters/github/repository.ts';
import type { TrackerCall } from '#adapters/github/wire.ts';
import type { Config } from '#config/schema.ts';
import type { LeadTracker } from '#leads/lead-tracker.ts';
import type { Clock } from '#shared/clock.ts';

import packageFile from '../../package.json' with { type: 'json' };

/** The configured repository on the tracker. */
export type TrackerParts = {
  client: TrackerClient;
  /** With the token for the action `delete`. */
  adminClient?: TrackerClient;
  repository: Repository;
  leadTracker: LeadTracker;
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
  const client = clientFor(credentialOf(config.tracker.auth));
  const repository = createRepository({ client, clock, name: parseRepositoryName(name) });
  return {
    client,
    ...(adminToken && { adminClient: clientFor({ token: adminToken }) }),
    repository,
    leadTracker: createLeadTracker({ client, repository }),
  };
}

function credentialOf(auth: Config['tracker']['auth']): TrackerCredential {
  const { token, appId, installationId, privateKey } = auth;
  if (token) return { token };
  if (appId === undefined || installationId === undefined || !privateKey)
    throw new TypeError('the configuration has no credential for the tracker');
  return { appId, installationId, privateKey };
}

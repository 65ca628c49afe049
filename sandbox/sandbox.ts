import type { Clock } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { randomBase62 } from '#shared/ids.ts';
import type { Log } from '#shared/log.ts';
import { type Issuer, startIssuer } from './issuer/issuer.ts';
import {
  PORTAL_AUTHOR,
  PORTAL_LEAD_EXTERNAL_ID,
  SAMPLE_ISSUE_FIELDS,
  sampleFields,
  sampleIssues,
  sampleLabels,
} from './seed.ts';
import type { Tracker } from './tracker/tracker-api.ts';
import { startTracker } from './tracker/tracker.ts';

export type SandboxOptions = {
  /** The address that the adapter is to listen on. */
  host: string;
};

/** A configuration for the adapter, in the shape of the configuration file. */
type SandboxConfig = {
  tracker: {
    repository: string;
    apiUrl: string;
    auth: { token: string };
    adminToken: string;
    webhookSecrets: string[];
    writeInterval: string;
  };
  leads: { portalAuthors: string[]; issueFields: Record<string, string> };
  identity: { issuer: string; audience: string };
  portal: { clientId: string };
  partners: Record<string, Record<string, unknown>>;
};

/** Addresses and credentials for the banner's commands. The secrets are made at each start and work nowhere else. */
export type SandboxAccess = {
  trackerUrl: string;
  leadId: string;
  hmacPartner: { id: string; secret: string; leadId: string };
  v3Partner: { id: string; secret: string; externalId: string };
  /** A client of the issuer that gets tokens in its own name. */
  token: { endpoint: string; clientId: string; clientSecret: string; scope: string };
};

export type Sandbox = {
  tracker: Tracker;
  issuer: Issuer;
  config: SandboxConfig;
  access: SandboxAccess;
  /** Has the tracker deliver its webhooks here, signed with the configured secret. */
  connectWebhook(url: string): void;
  close(): Promise<void>;
};

const REPOSITORY = 'acme/leads';
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '::1']);

/**
 * Starts the tracker with the sample leads and the issuer, and says how to configure the adapter
 * for them.
 * @throws {validation-failed} when the adapter is to listen on anything but loopback
 */
export async function startSandbox(
  { clock, log }: { clock: Clock; log: Log },
  options: SandboxOptions,
): Promise<Sandbox> {
  if (!LOOPBACK.has(options.host))
    throw new TrackportError('validation-failed', {
      detail: `The sandbox listens on loopback only, not on ${options.host}. Use --config for the real thing.`,
    });
  const held = new AsyncDisposableStack();
  try {
    const secrets = makeSecrets();
    const tracker = await startSeededTracker(clock, secrets);
    held.defer(() => tracker.close());
    const issuer = await startIssuer();
    held.defer(() => issuer.close());
    log.info({ tracker: tracker.url, issuer: issuer.url }, 'sandbox started');
    return {
      tracker,
      issuer,
      config: configOf({ tracker, issuer, secrets }),
      access: accessOf({ tracker, issuer, secrets }),
      connectWebhook: (url) => tracker.addWebhook(url, secrets.webhook),
      close: () => held.disposeAsync(),
    };
  } catch (error) {
    await held.disposeAsync();
    throw error;
  }
}

async function startSeededTracker(clock: Clock, secrets: Secrets): Promise<Tracker> {
  const tracker = await startTracker({
    repository: REPOSITORY,
    clock,
    tokens: [
      { token: secrets.token, can: 'write', login: 'trackport-service' },
      { token: secrets.adminToken, can: 'admin', login: 'octo-operator' },
    ],
  });
  for (const label of sampleLabels) tracker.createLabel(label);
  for (const field of sampleFields) tracker.createField(field);
  tracker.seedIssues(sampleIssues(clock.now()));
  return tracker;
}

type Secrets = ReturnType<typeof makeSecrets>;

function makeSecrets() {
  const secret = (prefix: string): string => `${prefix}_${randomBase62(32)}`;
  return {
    token: secret('sandbox_token'),
    adminToken: secret('sandbox_admin'),
    webhook: secret('sandbox_hook'),
    crmOne: secret('sandbox_crm1'),
    crmTwo: secret('sandbox_crm2'),
  };
}

type Started = { tracker: Tracker; issuer: Issuer; secrets: Secrets };

function configOf({ tracker, issuer, secrets }: Started): SandboxConfig {
  return {
    tracker: {
      repository: REPOSITORY,
      apiUrl: tracker.url,
      auth: { token: secrets.token },
      adminToken: secrets.adminToken,
      webhookSecrets: [secrets.webhook],
      writeInterval: '200ms',
    },
    leads: { portalAuthors: [PORTAL_AUTHOR], issueFields: SAMPLE_ISSUE_FIELDS },
    identity: { issuer: issuer.url, audience: issuer.audience },
    portal: { clientId: issuer.portalClientId },
    partners: {
      'crm-one': {
        scheme: 'hmac-sha256',
        secrets: [secrets.crmOne],
        deletions: { types: ['*'], actions: ['relabel', 'close', 'comment'] },
        events: [
          {
            type: 'lead.qualified',
            addLabels: ['qualified'],
            setFields: { stage: 'Qualified' },
            comment: '{partner} has qualified this lead. Receipt: {receiptId}',
          },
        ],
      },
      'crm-two': {
        scheme: 'signature-v3',
        secrets: [secrets.crmTwo],
        deletions: {
          types: ['contact.deletion', 'contact.privacyDeletion'],
          actions: ['relabel', 'close'],
          privacy: ['relabel', 'close', 'redact'],
        },
      },
    },
  };
}

/** The newest open lead is the one to read, the oldest the one to delete. */
function accessOf({ tracker, issuer, secrets }: Started): SandboxAccess {
  const leads = tracker
    .issues()
    .filter(({ labels, state, author }) => isApproved(labels) && state === 'open' && author)
    .map(({ number }) => String(number));
  return {
    trackerUrl: tracker.url,
    leadId: leads.at(-1) ?? '1',
    hmacPartner: { id: 'crm-one', secret: secrets.crmOne, leadId: leads[0] ?? '1' },
    v3Partner: { id: 'crm-two', secret: secrets.crmTwo, externalId: PORTAL_LEAD_EXTERNAL_ID },
    token: {
      endpoint: issuer.tokenEndpoint,
      clientId: issuer.machine.clientId,
      clientSecret: issuer.machine.clientSecret,
      scope: issuer.scopes,
    },
  };
}

function isApproved(labels: readonly { name: string }[]): boolean {
  return labels.some(({ name }) => name.toLowerCase() === 'approved');
}

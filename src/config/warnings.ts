import { type Secret, secretStatus, webhookSecretBytes } from '#shared/crypto/secret.ts';
import type { Config } from './schema/schema.ts';

/** Something allowed that is likely not meant. */
type ConfigWarning = {
  /** With dots, as in a `Problem`. */
  key: string;
  /** Constant: it goes into the log as well. */
  text: string;
  fix: string;
};

/** A shorter secret can be found out by trying; HMAC-SHA256 itself takes any length. */
const SECRET_BYTES_MIN = 16;

/** Warnings of a start and of `doctor`, at `nowMs`, about a configuration that is valid. */
export function configWarnings(config: Config, nowMs: number): ConfigWarning[] {
  const { server, tracker, partners } = config;
  const list = Object.values(partners);
  const warnings: ConfigWarning[] = [];

  if (tracker.webhookSecrets.length === 0)
    warnings.push({
      key: 'tracker.webhookSecrets',
      text: 'without a webhook secret answers are only as fresh as freshFor',
      fix: 'Set tracker.webhookSecrets.',
    });
  if (!tracker.adminToken && list.some(mayDelete))
    warnings.push({
      key: 'tracker.adminToken',
      text: 'without an admin token the action delete ends as impossible',
      fix: 'Set tracker.adminToken, or leave the action delete out.',
    });
  if (server.publicUrl === undefined && list.some(signsAddress))
    warnings.push({
      key: 'server.publicUrl',
      text: 'partners sign the public address, which is not set',
      fix: 'Set server.publicUrl to the address that the partners call.',
    });
  return [
    ...warnings,
    ...shortSecrets(partners),
    ...endedSecrets(partners, nowMs),
    ...unreachedRules(partners),
    ...replayable(partners),
  ];
}

function signsAddress({ scheme, signature }: Config['partners'][string]): boolean {
  return scheme === 'signature-v3' || signature?.content.includes('{url}') === true;
}

function mayDelete({ deletions }: Config['partners'][string]): boolean {
  return [...(deletions?.actions ?? []), ...(deletions?.privacy ?? [])].includes('delete');
}

function unreachedRules(partners: Config['partners']): ConfigWarning[] {
  return Object.entries(partners).flatMap(([id, { events = [] }]) =>
    events.flatMap(({ type }, at) =>
      events.slice(0, at).some((earlier) => earlier.type === '*' || earlier.type === type)
        ? [
            {
              key: `partners.${id}.events[${at}]`,
              text: 'an earlier rule takes the events of this one',
              fix: 'Put the rule before that one, or leave it out.',
            },
          ]
        : [],
    ),
  );
}

function replayable(partners: Config['partners']): ConfigWarning[] {
  return Object.entries(partners).flatMap(([id, partner]) => {
    const { events, deletions: { types = ['*'] } = {} } = partner;
    if (!events || signsAddress(partner) || !types.includes('*')) return [];
    return {
      key: `partners.${id}.deletions.types`,
      text: 'who sees a signed event can send it again as a deletion',
      fix: 'Set it to the event types that delete.',
    };
  });
}

function shortSecrets(partners: Config['partners']): ConfigWarning[] {
  return Object.entries(partners).flatMap(([id, { secrets, scheme }]) =>
    secrets.flatMap(({ value }, at) =>
      bytesOf(value, scheme) < SECRET_BYTES_MIN
        ? [
            {
              key: `partners.${id}.secrets[${at}]`,
              text: 'a secret of fewer than 16 bytes can be guessed',
              fix: 'Agree on a longer one with the partner, such as `openssl rand -hex 32` prints.',
            },
          ]
        : [],
    ),
  );
}

function endedSecrets(partners: Config['partners'], nowMs: number): ConfigWarning[] {
  return Object.entries(partners).flatMap(([id, { secrets, enabled }]) => {
    const isActive = secrets.some(
      (secret) => !('notBefore' in secret) || secretStatus(secret, nowMs) === 'active',
    );
    if (isActive || !enabled) return [];
    return {
      key: `partners.${id}.secrets`,
      text: 'no secret of the partner is active now, so that its calls are refused',
      fix: 'Look at notBefore and notAfter, or add the secret that the partner signs with.',
    };
  });
}

function bytesOf(secret: Secret, scheme: string): number {
  const text = secret.reveal();
  const key = scheme === 'standard-webhooks' ? webhookSecretBytes(text) : undefined;
  return key?.length ?? Buffer.byteLength(text);
}

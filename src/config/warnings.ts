import type { Config } from './schema.ts';

/** Something allowed that is likely not meant. `text` is constant: it goes into the log as well. */
export type ConfigWarning = { key: string; text: string };

/** What a start and `doctor` should say about a configuration that is valid. */
export function configWarnings(config: Config): ConfigWarning[] {
  const { server, tracker, partners, portal } = config;
  const list = Object.values(partners);
  const warnings: ConfigWarning[] = [];
  const warn = (key: string, text: string): void => void warnings.push({ key, text });

  if (tracker.webhookSecrets.length === 0)
    warn(
      'tracker.webhookSecrets',
      'without a webhook secret answers are only as fresh as freshFor',
    );
  if (!tracker.adminToken && list.some(mayDelete))
    warn('tracker.adminToken', 'without an admin token the action delete ends as impossible');
  if (server.publicUrl === undefined && list.some(({ scheme }) => scheme === 'signature-v3'))
    warn('server.publicUrl', 'partners of signature-v3 sign the public address, which is not set');
  if (portal) warn('portal', 'the management portal is not there yet: this key does nothing');
  return warnings;
}

function mayDelete({ deletions }: Config['partners'][string]): boolean {
  return [...(deletions?.actions ?? []), ...(deletions?.privacy ?? [])].includes('delete');
}

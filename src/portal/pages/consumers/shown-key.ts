import type { ConsumerWithKey } from '#access/keys/manage-keys.ts';
import type { ShownSecret } from '../../page.ts';

/** A key that was just made, for the one page that shows it. */
export function shownKey({ consumer, issued }: ConsumerWithKey, publicUrl: string): ShownSecret {
  const actions = consumer.grants.map(({ action }) => action);
  const path = actions.includes('leads:read')
    ? 'leads?limit=3'
    : actions.length > 0
      ? 'catalog?limit=3'
      : 'me';
  return {
    heading: 'Keep this key in a safe place now',
    value: issued.key.reveal(),
    text: 'It is shown once and cannot be read again: only its SHA-256 is stored. Lost it? Rotate it.',
    note: 'A click selects the whole key. Send it in the header X-API-KEY, never in an address.',
    command: `printf 'Key: '; read -r KEY; curl -sw '\\n' -H "X-API-KEY: $KEY" '${publicUrl}/api/v1/${path}'`,
  };
}

import type { ConsumerOut, GrantOut, KeyOut } from '#access/consumers/consumer-out.ts';
import { NONE, printable, renderFacts, renderTable, renderWord } from '../table.ts';

const colours = {
  active: 'green',
  disabled: 'yellow',
  expired: 'yellow',
  revoked: 'red',
} as const;

/** One line per consumer. */
export function renderConsumers(consumers: readonly ConsumerOut[], hasColour: boolean): string {
  return renderTable(
    ['id', 'name', 'state', 'grants', 'active keys', 'next expiry', 'last used'],
    consumers.map((consumer) => [
      consumer.id,
      printable(consumer.name),
      renderWord(consumer.state, colours[consumer.state], hasColour),
      renderGrants(consumer.grants),
      String(activeKeys(consumer).length),
      earliest(activeKeys(consumer).map(({ expiresAt }) => expiresAt)),
      latest(consumer.keys.map(({ lastUsedAt }) => lastUsedAt)),
    ]),
    'No consumer yet. Create one: trackport consumer create NAME --grant leads:read',
  );
}

/** A consumer with its keys. */
export function renderConsumer(consumer: ConsumerOut, hasColour: boolean): string {
  const facts = [
    ['id', consumer.id],
    ['name', printable(consumer.name)],
    ['state', renderWord(consumer.state, colours[consumer.state], hasColour)],
    ['grants', renderGrants(consumer.grants)],
    ['calls per minute', String(consumer.limitPerMinute ?? 'default')],
    ['created', toSeconds(consumer.createdAt)],
  ] as const;
  return `${renderFacts(facts)}\n\n${renderKeys(consumer.keys, hasColour)}`;
}

function renderKeys(keys: readonly KeyOut[], hasColour: boolean): string {
  return renderTable(
    ['key', 'ends in', 'state', 'created', 'by', 'expires', 'last used', 'replaced by'],
    keys.map((key) => [
      key.keyId,
      key.last4,
      renderWord(key.state, colours[key.state], hasColour),
      toSeconds(key.createdAt),
      printable(key.createdBy),
      toSeconds(key.expiresAt),
      toSeconds(key.lastUsedAt),
      key.replacedBy ?? NONE,
    ]),
  );
}

/** `leads:read (emea + sales)`: a lead must carry all of the labels. */
export function renderGrants(grants: readonly GrantOut[]): string {
  if (grants.length === 0) return 'none';
  return grants
    .map(({ action, labels, workspace }) => {
      if (workspace !== undefined) return `${action} (workspace ${printable(workspace)})`;
      return `${action} (${labels === undefined ? 'all leads' : printable(labels.join(' + '))})`;
    })
    .join(', ');
}

function activeKeys({ keys }: ConsumerOut): KeyOut[] {
  return keys.filter(({ state }) => state === 'active');
}

/** The time without its fraction. */
function toSeconds(time: string | undefined): string {
  return time?.replace(/\.\d+Z$/, 'Z') ?? NONE;
}

/** All times have one zone, so that they sort as text to the second. */
function earliest(times: (string | undefined)[]): string {
  return times.map(toSeconds).filter(isTime).sort()[0] ?? NONE;
}

function latest(times: (string | undefined)[]): string {
  return times.map(toSeconds).filter(isTime).sort().at(-1) ?? NONE;
}

function isTime(time: string): boolean {
  return time !== NONE;
}

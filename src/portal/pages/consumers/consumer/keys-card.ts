import { keyStateAt } from '#access/consumers/consumer.ts';
import type { Consumer, Key } from '#access/consumers/consumer.ts';
import { HOUR } from '#shared/clock.ts';
import { html } from '../../../html.ts';
import type { Html, HtmlValue } from '../../../html.ts';
import { body, card } from '../../../shell/card.ts';
import { code, link, note } from '../../../shell/parts.ts';
import { table } from '../../../shell/table.ts';
import { ago, counted, time } from '../../../shell/times.ts';
import type { Reader } from '../../../shell/times.ts';
import { consumerPath } from '../query.ts';
import { keyBadge } from '../words.ts';

/** As many as can be active at a time. */
const KEYS_SHOWN = 20;
/** A key that let somebody in within this time is still in use. */
const IN_USE_MS = HOUR;

/** The keys, newest first, with what can be done about each. */
export function keysCard(consumer: Consumer, reader: Reader): Html {
  const { id, keys, state } = consumer;
  const add =
    state !== 'revoked' &&
    link({ href: consumerPath(id, 'keys', 'new'), text: 'Add a key', look: 'button' });
  const content =
    keys.length === 0
      ? body(html`<p>No key yet: nobody can read as this consumer.</p>`)
      : keyTable(consumer, reader);
  return card({ id: 'h-keys', heading: 'Keys', aside: add || undefined }, content);
}

function keyTable(consumer: Consumer, reader: Reader): Html {
  const { shown, left } = shownKeys(consumer, reader);
  const rows = table<Key>({
    caption: 'Keys, newest first',
    rows: shown,
    columns: [
      {
        label: 'Key id',
        kind: 'whole',
        cell: ({ keyId, createdAt }) =>
          html`${code(keyId)}${note('made ', time(createdAt, reader, 'day'))}`,
      },
      { label: 'State', cell: (key) => keyBadge(key, reader) },
      { label: 'Works until', cell: (key) => endOf(key, reader) },
      { label: 'Last used', cell: (key) => useOf(key, reader) },
      { label: 'Actions', kind: 'acts', cell: (key) => actionsOf(consumer, key, reader) },
    ],
  });
  if (left === 0) return rows;
  const more = `${counted(left, 'older key')} that ended: what became of each stands in the audit.`;
  return html`${rows}${body(note(more))}`;
}

/** Every key that works, and of those that ended the newest. */
function shownKeys({ keys }: Consumer, { nowMs }: Reader): { shown: Key[]; left: number } {
  const isActive = (key: Key): boolean => keyStateAt(key, nowMs) === 'active';
  let room = KEYS_SHOWN - keys.filter(isActive).length;
  const shown = keys.toReversed().filter((key) => isActive(key) || (room -= 1) >= 0);
  return { shown, left: keys.length - shown.length };
}

function endOf({ expiresAt, revokedAt, replacedBy }: Key, reader: Reader): HtmlValue {
  const end = Math.min(revokedAt ?? Infinity, expiresAt ?? Infinity);
  if (end === Infinity) return 'no end';
  return replacedBy !== undefined && end > reader.nowMs
    ? ago(end, reader)
    : time(end, reader, 'day');
}

function useOf(key: Key, reader: Reader): HtmlValue {
  const { lastUsedAt, replacedBy } = key;
  if (lastUsedAt === undefined) return 'never';
  const isOverlap = replacedBy !== undefined && keyStateAt(key, reader.nowMs) === 'active';
  const isInUse = isOverlap && reader.nowMs - lastUsedAt < IN_USE_MS;
  return html`${ago(lastUsedAt, reader)}${isInUse && note('still in use')}`;
}

function actionsOf({ id, state }: Consumer, key: Key, { nowMs }: Reader): HtmlValue {
  if (state === 'revoked' || keyStateAt(key, nowMs) !== 'active') return undefined;
  const to = (action: string, text: string): Html =>
    link({ href: consumerPath(id, 'keys', key.keyId, action), text, more: `key ${key.keyId}` });
  return html`${key.replacedBy === undefined && to('rotate', 'Rotate…')} ${to('revoke', 'Revoke…')}`;
}

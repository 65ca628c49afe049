import { type Consumer, type Key, keyStateAt, activeKeys } from '#access/consumers/consumer.ts';
import { DAY, HOUR } from '#shared/clock.ts';
import { type Html, type HtmlValue, html } from '../../html.ts';
import { type Lane, lanes } from '../../shell/pictures.ts';
import { type Viewer, ago, counted, time, timeText } from '../../shell/times.ts';
import { endsSoon } from '#access/keys/key-rules.ts';
import { body, card } from '../../shell/card.ts';
import { badge, code, link, note } from '../../shell/elements.ts';
import { consumerPath } from '../../paths.ts';
import { table } from '../../shell/list.ts';
/** As many as can be active at a time. */
const KEYS_SHOWN = 20;
/** A key that let somebody in within this time is still in use. */
const IN_USE_MS = HOUR;

/** The keys, newest first, with what can be done about each. */
export function keysCard(consumer: Consumer, viewer: Viewer): Html {
  const { id, keys, state } = consumer;
  const add = link(consumerPath(id, 'keys', 'new'), 'Add a key', { look: 'button' });
  const content =
    keys.length === 0
      ? body(html`<p>No key yet: nobody can read as this consumer.</p>`)
      : keyTable(consumer, viewer);
  return card({ id: 'h-keys', heading: 'Keys', aside: state !== 'revoked' && add }, content);
}

function keyTable(consumer: Consumer, viewer: Viewer): Html {
  const { shown, left } = shownKeys(consumer, viewer);
  const rows = table<Key>({
    caption: 'Keys, newest first',
    rows: shown,
    columns: [
      [
        'Key id',
        ({ keyId, createdAt }) =>
          html`${code(keyId)}${note('made ', time(createdAt, viewer, 'day'))}`,
        'whole',
      ],
      ['State', (key) => keyBadge(key, consumer, viewer)],
      ['Works until', (key) => endOf(key, viewer)],
      ['Last used', (key) => useOf(key, viewer)],
      ['Actions', (key) => actionsOf(consumer, key, viewer), 'acts'],
    ],
  });
  if (left === 0) return rows;
  const more = `${counted(left, 'older key')} that ended: what became of each stands in the audit.`;
  return html`${rows}${body(note(more))}`;
}

function keyBadge(key: Key, { state: status }: Consumer, { nowMs }: Viewer): Html {
  const state = keyStateAt(key, nowMs);
  if (state === 'revoked') return badge('mute', 'Revoked');
  if (state === 'expired') return badge('mute', 'Expired');
  if (status === 'disabled') return badge('mute', 'Disabled');
  if (key.replacedBy !== undefined)
    return html`${badge('warn', 'In overlap')}${note('replaced by ', key.replacedBy)}`;
  return endsSoon(key, nowMs) ? badge('warn', 'Ends soon') : badge('ok', 'Active');
}

/** Every key that works, and of those that ended the newest. */
function shownKeys({ keys }: Consumer, { nowMs }: Viewer): { shown: Key[]; left: number } {
  const isActive = (key: Key): boolean => keyStateAt(key, nowMs) === 'active';
  let room = KEYS_SHOWN - keys.filter(isActive).length;
  const shown = keys.toReversed().filter((key) => isActive(key) || (room -= 1) >= 0);
  return { shown, left: keys.length - shown.length };
}

function endOf({ expiresAt, revokedAt, replacedBy }: Key, viewer: Viewer): HtmlValue {
  const end = Math.min(revokedAt ?? Infinity, expiresAt ?? Infinity);
  if (end === Infinity) return 'no end';
  return replacedBy !== undefined && end > viewer.nowMs
    ? ago(end, viewer)
    : time(end, viewer, 'day');
}

function useOf(key: Key, viewer: Viewer): HtmlValue {
  const { lastUsedAt, replacedBy } = key;
  if (lastUsedAt === undefined) return 'never';
  const isOverlap = replacedBy !== undefined && keyStateAt(key, viewer.nowMs) === 'active';
  const isInUse = isOverlap && viewer.nowMs - lastUsedAt < IN_USE_MS;
  return html`${ago(lastUsedAt, viewer)}${isInUse && note('still in use')}`;
}

function actionsOf({ id, state }: Consumer, key: Key, { nowMs }: Viewer): HtmlValue {
  if (state === 'revoked' || keyStateAt(key, nowMs) !== 'active') return undefined;
  const to = (action: string, text: string): Html =>
    link(consumerPath(id, 'keys', key.keyId, action), text, { more: `key ${key.keyId}` });
  return html`${key.replacedBy === undefined && to('rotate', 'Rotate…')} ${to('revoke', 'Revoke…')}`;
}

/** Two keys that work side by side: until when each does. Undefined when no rotation is under way. */
export function rotationCard(consumer: Consumer, viewer: Viewer): Html | undefined {
  const old = activeKeys(consumer, viewer.nowMs).find(({ replacedBy }) => replacedBy !== undefined);
  const next = old && consumer.keys.find(({ keyId }) => keyId === old.replacedBy);
  if (old?.expiresAt === undefined || !next) return undefined;
  const fromMs = Math.min(next.createdAt, viewer.nowMs - DAY);
  const untilMs = old.expiresAt + (old.expiresAt - fromMs) / 2;
  const until = time(old.expiresAt, viewer, 'minute');
  return card(
    { id: 'h-rotation', heading: 'Rotation' },
    lanes({
      headingId: 'h-rotation',
      caption: html`The old key ${old.keyId} works until ${until}. From then on only the new key
      ${next.keyId} does.`,
      fromMs,
      untilMs,
      nowMs: viewer.nowMs,
      lanes: [laneOf(old, { fromMs, untilMs }, viewer), laneOf(next, { fromMs, untilMs }, viewer)],
      axis: [fromMs, (fromMs + untilMs) / 2, untilMs].map((ms) => time(ms, viewer, 'minute')),
      wideLabels: true,
    }),
  );
}

function laneOf(key: Key, shown: { fromMs: number; untilMs: number }, viewer: Viewer): Lane {
  const { keyId, createdAt, expiresAt = Infinity, replacedBy } = key;
  const end =
    expiresAt === Infinity ? 'without an end' : `until ${timeText(expiresAt, viewer, 'minute')}`;
  return {
    label: code(keyId),
    sentence: `${keyId} works ${end}.`,
    spans: [
      {
        state: replacedBy === undefined ? 'ok' : 'warn',
        fromMs: Math.max(createdAt, shown.fromMs),
        untilMs: Math.min(expiresAt, shown.untilMs),
      },
    ],
  };
}

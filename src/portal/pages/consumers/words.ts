import type { Follower } from '#leads/lead-feed/lead-feed.ts';
import { type ConsumerStatus, nextExpiry, statusAt } from '#access/consumers/find-consumers.ts';
import { type Consumer, type Key, keyStateAt } from '#access/consumers/consumer.ts';
import { type Grant, grantOf } from '#access/grant.ts';
import { DAY } from '#shared/clock.ts';
import { html, type Html, type HtmlValue } from '../../html.ts';
import { badge, badgeOf, foreign, note, type BadgeWords, tag } from '../../shell/parts.ts';
import { ago, duration, type Reader, time } from '../../shell/times.ts';

/** A key that ends within this time is shown as ending. */
export const KEY_ENDS_SOON_MS = 14 * DAY;

export const CONSUMER_STATUS_WORDS: Readonly<Record<ConsumerStatus, BadgeWords>> = {
  revoked: { state: 'mute', words: 'Revoked' },
  disabled: { state: 'mute', words: 'Disabled' },
  'no-key': { state: 'warn', words: 'No key' },
  'in-rotation': { state: 'wait', words: 'In rotation' },
  active: { state: 'ok', words: 'Active' },
};

export function consumerBadge(
  consumer: Consumer,
  { nowMs }: Reader,
  look: { fill?: boolean } = {},
): Html {
  return badgeOf(CONSUMER_STATUS_WORDS[statusAt(consumer, nowMs)], look);
}

/** What a consumer may read, in words and at most so many labels. */
export function grantWords(grants: readonly Grant[], labelsMax = Infinity): HtmlValue {
  if (grants.length === 0) return note('nothing yet');
  const catalog = grantOf(grants, 'catalog:read');
  const leads = grantOf(grants, 'leads:read');
  return html`${leads && leadWords(leads, labelsMax)}${leads && catalog && ', '}${
    catalog && html`catalog of ${foreign(catalog.workspace ?? '', 60)}`
  }`;
}

function leadWords({ labels }: Grant, labelsMax: number): HtmlValue {
  if (labels === undefined) return 'all leads';
  const more = labels.length - labelsMax;
  const shown = labels.slice(0, labelsMax);
  return html`${shown.map((label) => html`${tag(foreign(label, 60))} `)}${more > 0 && note(`and ${more} more`)}`;
}

/** When the first of its keys ends. */
export function expiryWords(consumer: Consumer, reader: Reader): HtmlValue {
  const end = nextExpiry(consumer, reader.nowMs);
  if (end === undefined) return 'never';
  const isOverlap = consumer.keys.some((key) => key.expiresAt === end && key.replacedBy);
  if (isOverlap) return html`${ago(end, reader)}${note('end of overlap')}`;
  return end - reader.nowMs < KEY_ENDS_SOON_MS
    ? badge('warn', ago(end, reader))
    : time(end, reader, 'day');
}

/** When any of its keys let somebody in. */
export function lastUsedWords({ keys }: Pick<Consumer, 'keys'>, reader: Reader): HtmlValue {
  const uses = keys.flatMap(({ lastUsedAt }) => lastUsedAt ?? []);
  return uses.length === 0 ? 'never' : ago(Math.max(...uses), reader);
}

export function keyBadge(key: Key, { state: status }: Consumer, { nowMs }: Reader): Html {
  const state = keyStateAt(key, nowMs);
  if (state === 'revoked') return badge('mute', 'Revoked');
  if (state === 'expired') return badge('mute', 'Expired');
  if (status === 'disabled') return badge('mute', 'Disabled');
  if (key.replacedBy !== undefined)
    return html`${badge('warn', 'In overlap')}${note('replaced by ', key.replacedBy)}`;
  const endsSoon = key.expiresAt !== undefined && key.expiresAt - nowMs < KEY_ENDS_SOON_MS;
  return endsSoon ? badge('warn', 'Ends soon') : badge('ok', 'Active');
}

/** Whether it follows the lead feed, how far behind it is, and when it read last. */
export function feedWords(follower: Follower | undefined, reader: Reader): HtmlValue {
  if (!follower) return 'does not follow it';
  const { readAt, behindSince } = follower;
  const last = note('last read ', ago(readAt, reader));
  if (behindSince === undefined) return html`has all of it${last}`;
  return html`${badge('warn', `${duration(reader.nowMs - behindSince)} behind`)}${last}`;
}

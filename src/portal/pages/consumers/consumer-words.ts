/** Words for consumers, and who may see them. */
import type { Standing } from '#shared/outcomes/entry.ts';
import { z } from 'zod';
import { type Consumer, type Key, keyStateAt } from '#access/consumers/consumer.ts';
import { endsSoon } from '#access/keys/key-rules.ts';
import { nextExpiry, type ConsumerStatus, statusAt } from '#access/consumers/find-consumers.ts';
import type { Follower } from '#leads/lead-feed/lead-feed.ts';
import { type Grant, grantOf } from '#access/grant.ts';
import { html, type Html, type HtmlValue } from '../../html.ts';
import { badge, badgeOf, foreign, note, tag } from '../../shell/elements.ts';
import { ago, duration, type Viewer, time } from '../../shell/times.ts';
import { SECTIONS, consumerPath } from '../../paths.ts';
import type { ConsumerWithKey } from '#access/keys/manage-keys.ts';
import type { ShownSecret } from '../../page.ts';

export const { scope } = SECTIONS.consumers;
export const ofConsumer = { scope, params: z.object({ id: z.string() }) } as const;
export const ofKey = { scope, params: z.object({ id: z.string(), keyId: z.string() }) } as const;

/** Section and breadcrumbs of a page below the list, or below one consumer. */
export function consumerFrame(consumer?: Consumer) {
  const own = consumer && { href: consumerPath(consumer.id), text: consumer.name };
  return { section: 'consumers', crumbs: own ? [own] : [] } as const;
}

export const CONSUMER_STATUS_WORDS: Readonly<Record<ConsumerStatus, Standing>> = {
  revoked: { urgency: 'mute', title: 'Revoked' },
  disabled: { urgency: 'mute', title: 'Disabled' },
  'no-key': { urgency: 'warn', title: 'No key' },
  'in-rotation': { urgency: 'wait', title: 'In rotation' },
  active: { urgency: 'ok', title: 'Active' },
};

export function consumerBadge(
  consumer: Consumer,
  { nowMs }: Viewer,
  look: { fill?: boolean } = {},
): Html {
  return badgeOf(CONSUMER_STATUS_WORDS[statusAt(consumer, nowMs)], look);
}

/** Grants in words and at most so many labels. */
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

/** End of the first of its keys. */
export function expiryWords(consumer: Consumer, viewer: Viewer): HtmlValue {
  const end = nextExpiry(consumer, viewer.nowMs);
  if (end === undefined) return 'never';
  const isOverlap = consumer.keys.some((key) => key.expiresAt === end && key.replacedBy);
  if (isOverlap) return html`${ago(end, viewer)}${note('end of overlap')}`;
  return endsSoon({ expiresAt: end }, viewer.nowMs)
    ? badge('warn', ago(end, viewer))
    : time(end, viewer, 'day');
}

/** Last use of any of its keys. */
export function lastUsedWords({ keys }: Pick<Consumer, 'keys'>, viewer: Viewer): HtmlValue {
  const uses = keys.flatMap(({ lastUsedAt }) => lastUsedAt ?? []);
  return uses.length === 0 ? 'never' : ago(Math.max(...uses), viewer);
}

export function keyBadge(key: Key, { state: status }: Consumer, { nowMs }: Viewer): Html {
  const state = keyStateAt(key, nowMs);
  if (state === 'revoked') return badge('mute', 'Revoked');
  if (state === 'expired') return badge('mute', 'Expired');
  if (status === 'disabled') return badge('mute', 'Disabled');
  if (key.replacedBy !== undefined)
    return html`${badge('warn', 'In overlap')}${note('replaced by ', key.replacedBy)}`;
  return endsSoon(key, nowMs) ? badge('warn', 'Ends soon') : badge('ok', 'Active');
}

/** Position in the lead feed: whether it follows it, its lag, and its last read. */
export function feedWords(follower: Follower | undefined, viewer: Viewer): HtmlValue {
  if (!follower) return 'does not follow it';
  const { readAt, behindSince } = follower;
  const last = note('last read ', ago(readAt, viewer));
  if (behindSince === undefined) return html`has all of it${last}`;
  return html`${badge('warn', `${duration(viewer.nowMs - behindSince)} behind`)}${last}`;
}

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

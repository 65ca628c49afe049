/** Says of a consumer in a word how it stands, what it may read, and until when. */
import type { Standing } from '#shared/outcomes/entry.ts';
import {
  type Consumer,
  nextExpiry,
  type ConsumerStatus,
  statusAt,
} from '#access/consumers/consumer.ts';
import { endsSoon } from '#access/keys/key-rules.ts';
import { type Grant, grantOf } from '#access/grant.ts';
import { html, type Html, type HtmlValue } from '../../html.ts';
import { badge, badgeOf, foreign, note, tag } from '../../shell/elements.ts';
import { ago, type Viewer, time } from '../../shell/times.ts';

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

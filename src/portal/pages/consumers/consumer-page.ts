import { z } from 'zod';
import type { AuditEntryOut } from '#access/audit-log.ts';
import { grantOf } from '#access/grant.ts';
import type { Follower } from '#leads/lead-feed/followers.ts';
import { activeKeys, type Consumer, type Key, keyStateAt } from '#access/consumers/consumer.ts';
import { DAY, HOUR } from '#shared/clock.ts';
import { endsSoon } from '#access/keys/key-rules.ts';
import type { PortalPage, PortalPerson } from '../../page.ts';
import { page } from '../../routes/page-route.ts';
import type { PortalRequest } from '../../routes/portal-request.ts';
import type { PortalContext } from '../../context.ts';
import { html, type Html, type HtmlValue } from '../../html.ts';
import { body, card, facts, row, split } from '../../shell/card.ts';
import {
  actionButton,
  button,
  errorSummary,
  held,
  type HeldForm,
  input,
  postForm,
} from '../../shell/forms.ts';
import { badge, code, foreign, link, note } from '../../shell/elements.ts';
import { table } from '../../shell/list.ts';
import { ago, count, counted, duration, time, timeText, type Viewer } from '../../shell/times.ts';
import { consumerBadge, expiryWords, grantWords, lastUsedWords } from './consumer-list.ts';
import { changesText } from '../audit.ts';
import { auditPath, consumerPath, SECTIONS } from '../../paths.ts';
import {
  type GrantChoice,
  grantFields,
  grantsDigest,
  type KnownLabels,
  knownLabels,
  limitField,
  toGrantChoice,
} from './consumer-fields.ts';
import { type Lane, lanes } from '../../shell/pictures.ts';

type ShownConsumer = {
  consumer: Consumer;
  person: PortalPerson;
  labels: KnownLabels;
  /** The last changes, newest first. */
  entries: readonly AuditEntryOut[];
  /** Its position in the lead feed; undefined: it never read it. */
  follower: Follower | undefined;
  defaultLimit: number;
  /** Of a form on this page that came back. */
  returned: Returned | undefined;
};

type Returned = Pick<HeldForm, 'problems'> &
  Partial<HeldForm> & { heading: string; chosen?: GrantChoice; seen?: string | undefined };

const LAST_CHANGES = 5;

export const ofConsumer = {
  scope: SECTIONS.consumers.scope,
  params: z.object({ id: z.string() }),
} as const;

/** `/portal/consumers/:id`: one of them, with what can be done about it and its keys. */
export const consumerPage = page({
  path: consumerPath(':id'),
  ...ofConsumer,
  show: (context, request) => showConsumer(context, request),
});

/** The page, and on it a form that came back. */
export async function showConsumer(
  context: PortalContext,
  { person, params: { id }, viewer }: PortalRequest<{ id: string }>,
  returned?: Returned,
): Promise<PortalPage> {
  const { access, leadFeed } = context;
  const consumer = await access.consumers.read(id);
  const filter = { subject: `consumer/${id}` };
  const { items: entries } = await access.listAudit({ filter, limit: LAST_CHANGES });
  const labels = await knownLabels(context);
  const seen = grantOf(consumer.grants, 'leads:read')?.labels ?? [];
  const follower = await leadFeed.follower({ consumerId: id, labels: seen });
  const defaultLimit = context.defaultLimit();
  const given = { consumer, person, labels, entries, follower, defaultLimit, returned };
  return {
    section: 'consumers',
    crumbs: [],
    title: consumer.name,
    badge: consumerBadge(consumer, viewer, { fill: true }),
    meta: [consumer.id],
    body: consumerView(given, viewer),
  };
}

const FIELDS = { label: 'Labels', sees: 'Sees', name: 'Name', limitPerMinute: 'Limit' };

/** Grants, keys with their end, and the last changes. */
export function consumerView(given: ShownConsumer, viewer: Viewer): Html {
  const { consumer, returned } = given;
  const summary = returned && errorSummary({ ...returned, labels: FIELDS });
  const main = html`${keysCard(consumer, viewer)} ${rotationCard(consumer, viewer)}
  ${grantsCard(given)} ${auditCard(given, viewer)}`;
  const beside = html`${aboutCard(given, viewer)}
  ${consumer.state !== 'revoked' && html`${nameAndLimitCard(given)} ${shutOutCard(given)}`}`;
  return html`${summary}${split(main, beside)}`;
}

/** As many as can be active at a time. */
const KEYS_SHOWN = 20;
/** A key that let somebody in within this time is still in use. */
const IN_USE_MS = HOUR;

/** The keys, newest first, with what can be done about each. */
function keysCard(consumer: Consumer, viewer: Viewer): Html {
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
function rotationCard(consumer: Consumer, viewer: Viewer): Html | undefined {
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

/** Which leads the consumer may see, and whose catalog. The form tells which grants it shows. */
function grantsCard({ consumer, person, labels, returned }: ShownConsumer): Html {
  const { id, grants, state } = consumer;
  const { chosen, seen = grantsDigest(grants), problems = [] } = returned ?? {};
  const names = { id: 'h-grants', heading: 'Grants' };
  if (state === 'revoked') return card(names, body(grantWords(grants)));
  return card(
    names,
    postForm(
      { action: consumerPath(id, 'grants'), person, look: 'body', values: { seen } },
      grantFields(chosen ?? toGrantChoice(grants), labels, problems),
      row(button('Save grants', { look: 'primary' }), note('Takes effect at once, for every key.')),
    ),
  );
}

function auditCard({ consumer, entries }: ShownConsumer, viewer: Viewer): Html {
  const all = link(auditPath(`consumer/${consumer.id}`), 'All changes');
  const names = { id: 'h-audit', heading: 'Audit', aside: all };
  if (entries.length === 0) return card(names, body(html`<p class="note">None.</p>`));
  return card(
    names,
    table<AuditEntryOut>({
      caption: 'Last changes, newest first',
      rows: entries,
      columns: [
        ['When', ({ at }) => time(Date.parse(at), viewer), 'whole'],
        ['What', ({ action, changes }) => html`${code(action)} ${details(changes, viewer)}`],
        ['Who', ({ actor }) => foreign(actor.subject, 60)],
      ],
    }),
  );
}

function details(changes: AuditEntryOut['changes'], viewer: Viewer): Html | undefined {
  const { keyId, replacedBy } = changes ?? {};
  if (typeof keyId !== 'string') return changesText(changes, viewer);
  return typeof replacedBy === 'string' ? html`${code(keyId)} to ${code(replacedBy)}` : code(keyId);
}

function aboutCard({ consumer, follower, defaultLimit }: ShownConsumer, viewer: Viewer): Html {
  const { createdAt, grants, limitPerMinute } = consumer;
  const limit = `${count(limitPerMinute ?? defaultLimit)} calls a minute`;
  return card(
    { id: 'h-about', heading: 'About' },
    body(
      facts([
        ['Created', time(createdAt, viewer, 'day')],
        ['May read', grantWords(grants)],
        ['Active keys', count(activeKeys(consumer, viewer.nowMs).length)],
        ['Next expiry', expiryWords(consumer, viewer)],
        ['Last used', lastUsedWords(consumer, viewer)],
        ['Lead feed', grantOf(grants, 'leads:read') && feedWords(follower, viewer)],
        ['Limit', limitPerMinute === undefined ? `${limit} (default)` : limit],
      ]),
    ),
  );
}

/** Position in the lead feed: whether it follows it, its lag, and its last read. */
function feedWords(follower: Follower | undefined, viewer: Viewer): HtmlValue {
  if (!follower) return 'does not follow it';
  const { readAt, behindSince } = follower;
  const last = note('last read ', ago(readAt, viewer));
  if (behindSince === undefined) return html`has all of it${last}`;
  return html`${badge('warn', `${duration(viewer.nowMs - behindSince)} behind`)}${last}`;
}

function nameAndLimitCard({ consumer, person, returned, defaultLimit }: ShownConsumer): Html {
  const { id, name, limitPerMinute } = consumer;
  const came = { typed: returned?.typed ?? {}, problems: returned?.problems ?? [] };
  return card(
    { id: 'h-settings', heading: 'Name and limit' },
    postForm(
      { action: consumerPath(id, 'name'), person, look: 'body' },
      input({ ...held('name', came, name), label: 'Name' }),
      row(button('Save name')),
    ),
    postForm(
      { action: consumerPath(id, 'limit'), person, look: 'body' },
      limitField(defaultLimit, came, limitPerMinute),
      row(button('Save limit')),
    ),
  );
}

function shutOutCard({ consumer, person }: ShownConsumer): Html {
  const { id, state } = consumer;
  const [below, text] = state === 'disabled' ? ['enable', 'Enable'] : ['disable', 'Disable'];
  const toggle = actionButton({ action: consumerPath(id, below), person, text });
  const revoke = link(consumerPath(id, 'revoke'), 'Revoke consumer…', { look: 'button' });
  return card(
    { id: 'h-shut-out', heading: 'Shut out' },
    body(
      html`<p>
        Disabling refuses every call until you enable it again. Revoking takes the consumer and its
        keys away for good.
      </p>`,
      row(toggle, revoke),
    ),
  );
}

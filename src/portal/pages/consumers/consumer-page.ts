import { z } from 'zod';
import type { AuditEntryOut } from '#access/audit.ts';
import { grantOf } from '#access/grant.ts';
import type { Follower } from '#leads/lead-feed/lead-feed.ts';
import { type Consumer, activeKeys } from '#access/consumers/consumer.ts';
import type { PortalPage, PortalPerson } from '../../page.ts';
import { page } from '../../routes/page-route.ts';
import type { PortalRequest } from '../../routes/portal-request.ts';
import type { PortalContext } from '../../context.ts';
import { html, type Html, type HtmlValue } from '../../html.ts';
import { body, card, facts, row, split } from '../../shell/card.ts';
import { errorSummary } from '../../shell/notice.ts';
import { actionButton, button, held, type HeldForm, input, postForm } from '../../shell/forms.ts';
import { badge, code, foreign, link, note } from '../../shell/elements.ts';
import { table } from '../../shell/list.ts';
import { ago, count, duration, type Viewer, time } from '../../shell/times.ts';
import { consumerBadge, expiryWords, grantWords, lastUsedWords } from './consumer-summary.ts';
import { changesText } from '../audit.ts';
import { auditPath, consumerPath, SECTIONS } from '../../paths.ts';
import {
  type GrantChoice,
  type KnownLabels,
  grantFields,
  grantsDigest,
  knownLabels,
  limitField,
  toGrantChoice,
} from './consumer-fields.ts';
import { keysCard, rotationCard } from './keys-card.ts';

export type ShownConsumer = {
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

/** The partners of the configuration: how each stands, and what to do about it. */
import { z } from 'zod';
import { deliveryPath } from '#http/routes/partners.ts';
import type { PartnerSummary } from '#partners/list-partners.ts';
import type { ReceiptStatus } from '#partners/receipts/receipt.ts';
import { DAY } from '#shared/clock.ts';
import { PARTNER_ID_CHARACTERS_MAX } from '#shared/ids.ts';
import {
  type CallerState,
  partnerStates,
  secretStates,
  partnerRefusals,
  type RefusalWords,
} from '#shared/outcomes/callers.ts';
import { decapitalize, entryOf } from '#shared/outcomes/entry.ts';
import { startParameter, textFilter, partPager, table } from '../shell/list.ts';
import { html, type Html } from '../html.ts';
import { withQuery, PARTNERS_PATH, SECTIONS, partnerAnchor, receiptsPath } from '../paths.ts';
import { page } from '../routes/page-route.ts';
import { body, card, empty, facts, plainCard, stack } from '../shell/card.ts';
import { badgeOf, code, copyable, link } from '../shell/elements.ts';
import { ago, count, counted, duration, type Viewer, time } from '../shell/times.ts';

/** As many as fit into a page, each with all its reasons and some secrets. */
const PARTNERS_SHOWN = 5;

/** The address of the page: which partner it is to show, or how many stand before it. */
const partnersQuery = z.strictObject({
  id: textFilter(PARTNER_ID_CHARACTERS_MAX),
  start: startParameter,
});

/** `/portal/partners`: who gets through. Nothing can be changed there: the configuration file rules. */
export const partnersPage = page({
  path: PARTNERS_PATH,
  scope: SECTIONS.partners.scope,
  query: partnersQuery,
  isList: true,
  show: async ({ partners, publicUrl }, { query, viewer }) => {
    const known = await partners.list();
    const given = {
      partners: known,
      start: startOf(known, query),
      shown: PARTNERS_SHOWN,
      publicUrl: publicUrl(),
    };
    return {
      title: 'Partners',
      section: 'partners',
      meta: [
        `${counted(known.length, 'partner')}, configured in the file: shown here, changed there. No secret is ever shown, only the start of its digest.`,
      ],
      body: partnersView(given, viewer),
    };
  },
});

/** Pages begin at multiples, so that the one of a partner is always the same. */
function startOf(
  list: readonly { id: string }[],
  { id: given, start }: z.output<typeof partnersQuery>,
): number {
  const at = given === undefined ? start : list.findIndex(({ id }) => id === given);
  const last = Math.max(0, list.length - 1);
  const within = Math.min(Math.max(0, at), last);
  return within - (within % PARTNERS_SHOWN);
}

/** All partners, and which of them the page shows. */
type ShownPartners = {
  partners: readonly PartnerSummary[];
  start: number;
  shown: number;
  /** The address that partners call, and sign where their scheme says so. */
  publicUrl: string;
};

/** The partners of the configuration: who gets through, who does not, and what to do. */
function partnersView(given: ShownPartners, viewer: Viewer): Html {
  const { partners, start, shown, publicUrl } = given;
  if (partners.length === 0) return noPartners();
  const here = partners.slice(start, start + shown);
  const part = { start, shown: here.length, total: partners.length };
  const pages = partPager('Partners', part, (from) =>
    withQuery(PARTNERS_PATH, { start: from?.toString() }),
  );
  return stack(
    plainCard(overview(here, viewer), partners.length > shown && pages),
    ...here.map((partner) => details(partner, publicUrl, viewer)),
  );
}

function noPartners(): Html {
  return empty({
    id: 'no-partners',
    heading: 'No partner yet',
    text: html`Partners send signed events and deletions. Name one with its scheme and its secret
      below <code>partners</code> in the configuration file, then reload (SIGHUP).`,
    next: link('/docs', 'How partners sign their calls', { look: 'button' }),
  });
}

function overview(partners: readonly PartnerSummary[], viewer: Viewer): Html {
  return table<PartnerSummary>({
    caption: 'Partners, in the order of the configuration',
    rows: partners,
    columns: [
      ['Partner', ({ id }) => html`<a href="#${partnerAnchor(id)}">${id}</a>`],
      ['State', (partner) => verdictBadge(partner, viewer)],
      ['Scheme', ({ scheme }) => code(scheme)],
      [
        'Active secrets',
        ({ secrets }) => count(secrets.filter(({ status }) => status === 'active').length),
        'number',
      ],
      ['Last delivery', (partner) => lastDelivery(partner, viewer)],
      [
        'Refused, 7 days',
        ({ refusals }) => count(refusals.reduce((sum, one) => sum + one.count, 0)),
        'number',
      ],
    ],
  });
}

function details(partner: PartnerSummary, publicUrl: string, viewer: Viewer): Html {
  const { id, scheme, headers, requireBearer, limitPerMinute } = partner;
  const { next } = verdictOf(partner, viewer.nowMs);
  return card(
    { id: partnerAnchor(id), heading: code(id), aside: verdictBadge(partner, viewer) },
    body(
      facts(
        [
          ['Scheme', code(scheme)],
          ['Signs in', code(Object.values(headers).filter(Boolean).join(', '))],
          ['Last delivery', lastDelivery(partner, viewer)],
          ['Expected', rhythm(partner, viewer)],
          ['Beside the signature', requireBearer ? 'a bearer token' : undefined],
          ['Limit', limitPerMinute && `${count(limitPerMinute)} calls a minute`],
          ['Receipts', receiptLinks(id)],
        ],
        { across: true },
      ),
      facts(
        (['deletions', 'events'] as const).map((path): [string, Html] => [
          `Sends ${path} to`,
          copyable(`${id}-${path}`, `${publicUrl}${deliveryPath(id, path)}`, path),
        ]),
      ),
      next !== undefined && html`<p><b>Next step:</b> ${next}</p>`,
    ),
    secrets(partner, viewer),
    refusals(partner, viewer),
  );
}

function receiptLinks(id: string): Html {
  const to = (text: string, status?: ReceiptStatus): Html =>
    link(receiptsPath({ partnerId: id, status }), text, { more: `of ${id}` });
  return html`${to('all')}, ${to('failed', 'FAILED')}, ${to('unmatched', 'UNMATCHED')}`;
}

function secrets({ id, secrets }: PartnerSummary, viewer: Viewer): Html {
  const heading = html`<div class="body sub"><h3>Secrets</h3></div>`;
  if (secrets.length === 0) return html`${heading}${body(html`<p class="note">None.</p>`)}`;
  const instant = (ms: number | undefined, otherwise: string) =>
    ms === undefined ? otherwise : time(ms, viewer, 'day');
  return html`${heading}${table({
    caption: `Secrets of ${id}`,
    rows: secrets,
    columns: [
      ['SHA-256 begins', ({ digest }) => code(digest)],
      ['State', (secret) => standingBadge(secret, viewer.nowMs)],
      ['From', ({ notBefore }) => instant(notBefore, 'always')],
      ['Until', ({ notAfter }) => instant(notAfter, 'no end')],
      [
        'Last verified',
        ({ lastVerifiedAt }) =>
          lastVerifiedAt === undefined ? 'not in 7 days' : ago(lastVerifiedAt, viewer),
      ],
    ],
  })}`;
}

function refusals({ id, refusals }: PartnerSummary, viewer: Viewer): Html {
  if (refusals.length === 0)
    return body(html`<h3>Refused calls, 7 days</h3>`, html`<p class="note">None.</p>`);
  return html`<div class="body sub"><h3>Refused calls, 7 days</h3></div>
    ${table({
      caption: `Refused calls of ${id} by reason, the latest first`,
      rows: refusals,
      columns: [
        ['Reason', ({ reason }) => refusalOf(partnerRefusals, reason).title],
        ['Calls', (refusal) => count(refusal.count), 'number'],
        ['Last', ({ lastAt }) => time(lastAt, viewer, 'minute')],
        ['Look at', ({ reason }) => refusalOf(partnerRefusals, reason).next],
      ],
    })}`;
}

function verdictBadge(partner: PartnerSummary, { nowMs }: Viewer): Html {
  return badgeOf(verdictOf(partner, nowMs));
}

function lastDelivery({ lastVerifiedAt }: PartnerSummary, viewer: Viewer): Html | string {
  return lastVerifiedAt === undefined ? 'none in 7 days' : ago(lastVerifiedAt, viewer);
}

function rhythm({ expectEvery, silentSince }: PartnerSummary, viewer: Viewer): Html | undefined {
  if (expectEvery === undefined) return undefined;
  const since =
    silentSince && html`; nothing accepted since ${time(silentSince, viewer, 'minute')}`;
  return html`something every ${duration(expectEvery)}${since}`;
}

/** A secret that ends within this time is shown as ending. */
const ENDS_SOON_MS = 14 * DAY;

/** The gravest thing about a partner, and what to do about it. `nowMs`: since the Unix epoch. */
export function verdictOf(partner: PartnerSummary, nowMs: number): CallerState {
  const { enabled, secrets, refusals, lastVerifiedAt } = partner;
  if (!enabled) return partnerStates.disabled;
  const active = secrets.filter(({ status }) => status === 'active');
  if (active.length === 0)
    return partnerStates[secrets.length === 0 ? 'without-secret' : 'without-active-secret'];
  const [latest] = refusals;
  if (latest && latest.lastAt >= (lastVerifiedAt ?? 0)) return refusedLast(latest.reason);
  if (partner.silentSince !== undefined) return partnerStates['fallen-silent'];
  if (active.every((secret) => endsSoon(secret, nowMs))) return partnerStates['secret-ending'];
  if (lastVerifiedAt === undefined) return partnerStates.silent;
  return latest ? partnerStates['some-refused'] : partnerStates.receiving;
}

function refusedLast(reason: string): CallerState {
  const state = partnerStates['last-refused'];
  const { title, next } = refusalOf(partnerRefusals, reason);
  return { ...state, next: `${state.next}: ${decapitalize(title)}. ${next}` };
}

function endsSoon({ notAfter }: PartnerSummary['secrets'][number], nowMs: number): boolean {
  return notAfter !== undefined && notAfter - nowMs <= ENDS_SOON_MS;
}

/** The state of one secret. */
function standingBadge(secret: PartnerSummary['secrets'][number], nowMs: number): Html {
  const isEnding = secret.status === 'active' && endsSoon(secret, nowMs);
  return badgeOf(secretStates[isEnding ? 'ending' : secret.status]);
}

/** A reason that is not known in `table` stands for itself. */
export const refusalOf = (
  table: Readonly<Record<string, RefusalWords>>,
  code: string,
): RefusalWords =>
  entryOf(table, code) ?? { title: code, next: 'See the log: it names the reason.' };

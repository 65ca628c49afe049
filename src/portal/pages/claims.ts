import { z } from 'zod';
import { type ClaimOut, listClaims, readClaim } from '#leads/claims/claimed-leads.ts';
import { parseLeadId } from '#leads/model/identity.ts';
import { releaseClaim } from '#partners/receipts/release-claim.ts';
import { isTrackportError } from '#shared/errors.ts';
import type { PortalContext } from '../context.ts';
import {
  type Column,
  cursorFilter,
  type Found,
  listCard,
  type ListRequest,
} from '../shell/list.ts';
import { html, type Html } from '../html.ts';
import {
  auditPath,
  claimPath,
  CLAIMS_PATH,
  receiptPath,
  receiptsPath,
  SECTIONS,
  withQuery,
} from '../paths.ts';
import { action } from '../routes/action-route.ts';
import { refuseTyped, typedForm } from '../routes/confirmation.ts';
import { page } from '../routes/page-route.ts';
import { body, card, type EmptyCard, facts, notice, remark, row } from '../shell/card.ts';
import { code, link } from '../shell/elements.ts';
import { count, counted, time, type Viewer } from '../shell/times.ts';
import { type IssueAddress, issueLink } from './receipts/receipt-words.ts';

const { scope } = SECTIONS.claims;
const PATH = `${CLAIMS_PATH}/:number`;
const PAGE_CLAIMS = 25;

const ofLead = {
  scope,
  params: z.object({ number: z.string().regex(/^[1-9][0-9]{0,15}$/) }),
} as const;

const claimsQuery = z.strictObject({ cursor: cursorFilter });

type ClaimsQuery = z.output<typeof claimsQuery>;

/** `/portal/claims`: the leads that deletions hide. */
export const claimListPage = page({
  path: CLAIMS_PATH,
  scope,
  query: claimsQuery,
  isList: true,
  show: async ({ claimedLeads, tracker }, request) => ({
    title: 'Claims',
    section: 'claims',
    meta: ['Leads that deletions hide from every reader, the last hidden first.'],
    body: claimsView(
      await listClaims(claimedLeads, { limit: PAGE_CLAIMS, cursor: request.query.cursor }),
      tracker.issueAddress,
      request,
    ),
  }),
});

/** `/portal/claims/:number`: what hides one lead. */
export const claimPage = page({
  path: PATH,
  ...ofLead,
  show: async (context, { viewer, params: { number } }) => ({
    ...placeOf(number),
    body: claimView(await factsOf(context, number), viewer),
  }),
});

/** Gives it back to its readers. */
export const releaseLeadAction = action({
  path: `${PATH}/release`,
  ...ofLead,
  form: typedForm,
  confirm: async (context, { params: { number }, viewer }) => {
    const found = await factsOf(context, number);
    const { title, section } = placeOf(number);
    const place = { section, crumbs: [{ href: claimPath(number), text: title }] };
    if (!found.claim) return { ...place, title, body: claimView(found, viewer) };
    return { ...place, ...releaseConfirmation(found) };
  },
  run: async (context, { form, params: { number }, origin }) => {
    if (parseLeadId(form.typed) !== Number(number))
      refuseTyped('This is not the number of the lead. Type it exactly.');
    await releaseClaim(context.claimedLeads, number, origin);
    const notice = `Lead ${number} was released: no deletion hides it any more.`;
    return { location: claimPath(number), notice };
  },
});

const factsOf = async (context: PortalContext, number: string): Promise<ShownClaim> => ({
  number,
  claim: await findClaim(context, number),
  issueAddress: context.tracker.issueAddress,
});

function placeOf(number: string) {
  return { title: `Lead #${number}`, section: 'claims', crumbs: [] } as const;
}

/** A page of the leads that deletions hide now. */
function claimsView(
  found: Found<ClaimOut>,
  issueAddress: IssueAddress,
  request: ListRequest<ClaimsQuery>,
): Html {
  const nothing: EmptyCard = {
    id: 'no-claims',
    heading: 'No deletion hides a lead',
    text: 'As soon as a partner deletes somebody, the leads of that person stand here, and no reader sees them.',
    next: link(receiptsPath({}), 'What partners sent', { look: 'button' }),
  };
  const list = {
    ...found,
    pathOf: (query: ClaimsQuery) => withQuery(CLAIMS_PATH, query),
    filters: [],
    caption: 'Leads that deletions hide, the last hidden first',
    columns: claimColumns(issueAddress, request.viewer),
    summary: `${counted(found.items.length, 'lead')} on this page, the last hidden first`,
    none: nothing,
    nothingFits: nothing,
  };
  return listCard(list, request);
}

const claimColumns = (issueAddress: IssueAddress, viewer: Viewer): Column<ClaimOut>[] => [
  ['Lead', ({ leadId }) => link(claimPath(leadId), `#${leadId}`), 'whole'],
  ['Hidden since', ({ claimedAt }) => time(Date.parse(claimedAt), viewer), 'whole'],
  ['By receipts', ({ receiptIds }) => receiptLinks(receiptIds, RECEIPTS_OF_ROW_MAX)],
  ['On the tracker', ({ leadId }) => issueLink(leadId, issueAddress)],
  [
    'Actions',
    ({ leadId }) => link(claimPath(leadId, 'release'), 'Release…', { more: `lead ${leadId}` }),
    'acts',
  ],
];

function receiptLinks(ids: readonly string[], max: number): Html {
  const shown = ids.slice(0, max);
  const more = ids.length - shown.length;
  return html`${shown.map((id) => html`${link(receiptPath(id), code(id))} `)}
  ${more > 0 && `and ${count(more)} more`}`;
}

type ShownClaim = {
  /** The lead's. */
  number: string;
  /** Undefined: nothing hides it. */
  claim: ClaimOut | undefined;
  issueAddress: IssueAddress;
};

/** @throws {store-unavailable} */
export async function findClaim(
  { claimedLeads }: PortalContext,
  number: string,
): Promise<ClaimOut | undefined> {
  try {
    return await readClaim(claimedLeads, number);
  } catch (error) {
    if (isTrackportError(error, 'not-found')) return undefined;
    throw error;
  }
}

const RECEIPTS_MAX = 20;
const RECEIPTS_OF_ROW_MAX = 3;

/** Which deletions hide a lead, since when, and how to give it back. */
function claimView({ number, claim, issueAddress }: ShownClaim, viewer: Viewer): Html {
  const history = html`${link(receiptsPath({ leadId: number }), 'Its receipts')}
  ${link(auditPath(`claim/${number}`), 'What was done to its claims')}`;
  if (claim === undefined)
    return notice({
      state: 'mute',
      id: 'verdict',
      heading: 'No deletion hides this lead',
      text: html`Either none ever did, or an operator gave it back, or the worker found that the
      match was wrong. Readers see ${issueLink(number, issueAddress)} when it is approved on the
      tracker and does not carry the deleted label.`,
      actions: history,
    });
  return html`${notice({
    state: 'ok',
    id: 'verdict',
    heading: 'No reader sees this lead',
    text: 'A deletion has claimed it. If that was a wrong match, give it back.',
    actions: link(claimPath(number, 'release'), 'Release…', { look: 'button' }),
  })}
  ${card(
    { id: 'h-claim', heading: 'Claim' },
    body(
      facts([
        ['Issue', issueLink(number, issueAddress)],
        ['Hidden since', time(Date.parse(claim.claimedAt), viewer)],
        ['By receipts', receiptLinks(claim.receiptIds, RECEIPTS_MAX)],
      ]),
      row(history),
    ),
  )}`;
}

/** Before readers see the lead again. */
function releaseConfirmation({ number, issueAddress }: ShownClaim) {
  return {
    title: `Release lead #${number}?`,
    failed: 'Not released',
    warning: remark(
      'warn',
      'A person may have asked for this deletion',
      'Release only when the match was wrong: the lead belongs to somebody else.',
    ),
    consequences: [
      'All claims on it end. Readers see it again as soon as it is approved on the tracker and does not carry the deleted label.',
      html`What was done to issue ${issueLink(number, issueAddress)} stays: put labels, title and
      text back there by hand.`,
      'The deletions that had claimed it leave it alone from then on.',
      'It goes into the audit log. Only a deletion that the partner sends again hides it anew, or the replay of a receipt that ended Unmatched for this release.',
    ],
    toType: `Type the number of the lead: ${number}`,
    submit: 'Release lead',
    danger: true,
    wayOut: 'Keep it hidden',
  };
}

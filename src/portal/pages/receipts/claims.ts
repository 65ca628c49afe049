import { z } from 'zod';
import type { ClaimOut } from '#leads/claims/claimed-leads.ts';
import { parseLeadId } from '#leads/model/identity.ts';
import { isTrackportError } from '#shared/errors.ts';
import { html, type Html } from '../../html.ts';
import { refuseTyped, typedForm } from '../../routes/confirmation.ts';
import type { PortalRoutes } from '../../routes/route-types.ts';
import { body, card, facts, row } from '../../shell/card.ts';
import { notice, remark } from '../../shell/notice.ts';
import { code, link } from '../../shell/elements.ts';
import { count, type Viewer, time } from '../../shell/times.ts';
import type { PagesContext } from '../../context.ts';
import { auditOf } from '../audit.ts';
import {
  claimPath,
  type IssueAddress,
  issueLink,
  receiptPath,
  receiptsPath,
  scope,
} from './names.ts';

const PATH = '/portal/claims/:number';

const ofLead = {
  scope,
  params: z.object({ number: z.string().regex(/^[1-9][0-9]{0,15}$/) }),
} as const;

/** `/portal/claims/:number`: what hides a lead, and giving it back. */
export function claimPages(portal: PortalRoutes, context: PagesContext): void {
  const factsOf = async (number: string): Promise<ClaimFacts> => ({
    number,
    claim: await findClaim(context, number),
    issueAddress: context.tracker.issueAddress,
  });
  portal.page(PATH, ofLead, async ({ viewer, params: { number } }) => ({
    ...placeOf(number),
    body: claimView(await factsOf(number), viewer),
  }));
  portal.action(`${PATH}/release`, {
    ...ofLead,
    form: typedForm,
    confirm: async ({ params: { number }, viewer }) => {
      const found = await factsOf(number);
      const { title, section } = placeOf(number);
      const place = { section, crumbs: [{ href: claimPath(number), text: title }] };
      if (!found.claim) return { ...place, title, body: claimView(found, viewer) };
      return { ...place, ...releaseConfirmation(found) };
    },
    run: async ({ form, params: { number }, origin }) => {
      if (parseLeadId(form.typed) !== Number(number))
        refuseTyped('This is not the number of the lead. Type it exactly.');
      await context.claimedLeads.release(number, origin);
      const notice = `Lead ${number} was released: no deletion hides it any more.`;
      return { location: claimPath(number), notice };
    },
  });
}

function placeOf(number: string) {
  return { title: `Lead #${number}`, section: 'receipts', crumbs: [] } as const;
}

type ClaimFacts = {
  /** The lead's. */
  number: string;
  /** Undefined: nothing hides it. */
  claim: ClaimOut | undefined;
  issueAddress: IssueAddress;
};

/** @throws {store-unavailable} */
export async function findClaim(
  { claimedLeads }: PagesContext,
  number: string,
): Promise<ClaimOut | undefined> {
  try {
    return await claimedLeads.read(number);
  } catch (error) {
    if (isTrackportError(error, 'not-found')) return undefined;
    throw error;
  }
}

const RECEIPTS_MAX = 20;

/** Which deletions hide a lead, since when, and how to give it back. */
function claimView({ number, claim, issueAddress }: ClaimFacts, viewer: Viewer): Html {
  const history = html`${link(receiptsPath({ leadId: number }), 'Its receipts')}
  ${link(auditOf(`claim/${number}`), 'What was done to its claims')}`;
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
  const shown = claim.receiptIds.slice(0, RECEIPTS_MAX);
  const more = claim.receiptIds.length - shown.length;
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
        [
          'By receipts',
          html`${shown.map((id) => html`${link(receiptPath(id), code(id))} `)}
          ${more > 0 && `and ${count(more)} more`}`,
        ],
      ]),
      row(history),
    ),
  )}`;
}

/** Before readers see the lead again. */
function releaseConfirmation({ number, issueAddress }: ClaimFacts) {
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

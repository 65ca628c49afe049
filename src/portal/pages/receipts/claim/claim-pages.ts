import { z } from 'zod';
import type { ClaimOut } from '#leads/claims/claim-out.ts';
import { parseLeadId } from '#leads/model/identity.ts';
import { isTrackportError } from '#shared/errors.ts';
import type { FormProblem, PortalPage } from '../../../page.ts';
import type { PortalPerson } from '../../../person.ts';
import { refuseTyped, typedForm } from '../../../retyped.ts';
import type { PortalRoutes } from '../../../routes/route-types.ts';
import { claimView, releaseView } from './claim-views.ts';
import type { ReleaseFacts } from './claim-views.ts';
import { claimPath } from '../leads.ts';
import { RECEIPTS_PATH } from '../query.ts';
import { readerOf, scope } from '../receipt-deps.ts';
import type { ReceiptPagesDeps } from '../receipt-deps.ts';

const ofLead = {
  scope,
  params: z.object({ number: z.string().regex(/^[1-9][0-9]{0,15}$/) }),
} as const;

/** `/portal/claims/:number`: what hides a lead, and giving it back. */
export function claimPages(portal: PortalRoutes, deps: ReceiptPagesDeps): void {
  const { claimedLeads } = deps;
  portal.page('/portal/claims/:number', ofLead, async ({ person, params: { number } }) => {
    const facts = { number, claim: await findClaim(deps, number), issueAddress: deps.issueAddress };
    return {
      title: `Lead #${number}`,
      section: 'receipts',
      crumbs: [{ href: RECEIPTS_PATH, text: 'Receipts' }],
      body: claimView(facts, readerOf(deps, person)),
    };
  });
  portal.page('/portal/claims/:number/release', ofLead, ({ person, params: { number } }) =>
    releasePage(deps, number, { person }),
  );
  portal.action(
    '/portal/claims/:number/release',
    {
      ...ofLead,
      form: typedForm,
      onProblems: ({ person, params: { number }, problems }) =>
        releasePage(deps, number, { person, problems }),
    },
    async ({ form, params: { number }, origin }) => {
      if (parseLeadId(form.typed) !== Number(number)) refuseTyped('the number of the lead');
      await claimedLeads.release(number, origin);
      const notice = `Lead ${number} was released: no deletion hides it any more.`;
      return { location: claimPath(number), notice };
    },
  );
}

async function releasePage(
  deps: ReceiptPagesDeps,
  number: string,
  given: { person: PortalPerson; problems?: readonly FormProblem[] },
): Promise<PortalPage> {
  const claim = await findClaim(deps, number);
  const facts: ReleaseFacts = { ...given, number, claim, issueAddress: deps.issueAddress };
  return {
    title: claim === undefined ? `Lead #${number}` : `Release lead #${number}?`,
    section: 'receipts',
    crumbs: [
      { href: RECEIPTS_PATH, text: 'Receipts' },
      { href: claimPath(number), text: `Lead #${number}` },
    ],
    body: releaseView(facts, readerOf(deps, given.person)),
  };
}

/** Undefined: nothing hides the lead. @throws {store-unavailable} */
export async function findClaim(
  { claimedLeads }: Pick<ReceiptPagesDeps, 'claimedLeads'>,
  number: string,
): Promise<ClaimOut | undefined> {
  try {
    return await claimedLeads.read(number);
  } catch (error) {
    if (isTrackportError(error, 'not-found')) return undefined;
    throw error;
  }
}

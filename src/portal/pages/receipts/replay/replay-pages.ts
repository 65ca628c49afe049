import { refuse } from '#shared/errors.ts';
import type { FormProblem, PortalPage } from '../../../page.ts';
import type { PortalPerson } from '../../../person.ts';
import type { PortalRoutes } from '../../../routes/route-types.ts';
import {
  givenFilters,
  RECEIPTS_PATH,
  receiptsForm,
  receiptsPath,
  receiptsQuery,
  toFilter,
} from '../query.ts';
import type { ReceiptsFilters } from '../query.ts';
import { scope } from '../receipt-deps.ts';
import type { ReceiptPagesDeps } from '../receipt-deps.ts';
import { replayNotice } from '../receipt-pages.ts';
import { replayView, sumOf } from './replay-view.ts';

const PATH = `${RECEIPTS_PATH}/replay`;

/** `/portal/receipts/replay`: working all again that the filters of the list find. */
export function replayPages(portal: PortalRoutes, deps: ReceiptPagesDeps): void {
  const { receipts } = deps.partners;
  portal.page(PATH, { scope, query: receiptsQuery }, ({ person, query }) =>
    confirmPage(deps, query, { person }),
  );
  portal.action(
    PATH,
    {
      scope,
      form: receiptsForm,
      onProblems: ({ person, typed, problems }) => {
        const { success, data } = receiptsForm.safeParse(typed);
        return confirmPage(deps, success ? data.filters : {}, { person, problems });
      },
    },
    async ({ form: { filters, typed }, person, origin }) => {
      requireFilter(filters);
      const filter = toFilter(filters, person.timeZone);
      const { queued } = await receipts.previewReplay(filter);
      const events = sumOf(queued);
      if (typed !== String(events)) {
        const detail = `This is not the number of events that match now: ${events}.`;
        refuse([{ pointer: '#/typed', code: 'mismatch', detail }]);
      }
      const replayed = await receipts.replayAll(filter, origin);
      return { location: receiptsPath(filters), ...replayNotice(replayed) };
    },
  );
}

async function confirmPage(
  { partners }: ReceiptPagesDeps,
  { cursor: _cursor, ...filters }: ReceiptsFilters & { cursor?: string | undefined },
  given: { person: PortalPerson; problems?: readonly FormProblem[] },
): Promise<PortalPage> {
  requireFilter(filters);
  const preview = await partners.receipts.previewReplay(toFilter(filters, given.person.timeZone));
  return {
    title: 'Replay all that match?',
    section: 'receipts',
    crumbs: [
      { href: RECEIPTS_PATH, text: 'Receipts' },
      { href: receiptsPath(filters), text: 'As filtered' },
    ],
    body: replayView({ filters, preview, ...given }),
  };
}

/** Everything at once is never meant. @throws {validation-failed} */
function requireFilter(filters: ReceiptsFilters): void {
  if (givenFilters(filters).length > 0) return;
  const detail = 'Choose a filter in the list first: a replay of everything is not offered here.';
  refuse([{ pointer: '', code: 'required', detail }]);
}

import type { Outcome } from '#partners/receipts/receipt.ts';
import type { NotQueuedReason, Replayed } from '#partners/receipts/receipt-out.ts';
import type { ReplayPreview } from '#partners/receipts/receipts.ts';
import { refuse } from '#shared/errors.ts';
import { notReplayed } from '#shared/outcomes/events.ts';
import { html } from '../../html.ts';
import type { Once, PortalPage } from '../../page.ts';
import { RECEIPTS_PATH, SECTIONS, receiptsPath } from '../../paths.ts';
import { action } from '../../routes/action-route.ts';
import { type Confirmation, refuseTyped } from '../../routes/confirmation.ts';
import type { PortalRequest } from '../../routes/portal-request.ts';
import { link } from '../../shell/elements.ts';
import { notice } from '../../shell/card.ts';
import { count, counted } from '../../shell/times.ts';
import {
  filtersText,
  givenFilters,
  type ReceiptsFilters,
  receiptsForm,
  receiptsQuery,
  type ReceiptsQuery,
  toFilter,
} from './receipt-filters.ts';
import { countWords } from './receipt-words.ts';

/** `/portal/receipts/replay`: working all again that the filters of the list find. */
export const replayAllAction = action({
  path: `${RECEIPTS_PATH}/replay`,
  scope: SECTIONS.receipts.scope,
  query: receiptsQuery,
  form: receiptsForm,
  confirm: async ({ partners }, request) => {
    const filters = filtersOf(request);
    requireFilter(filters);
    const filter = toFilter(filters);
    return confirmationOf(filters, await partners.receipts.previewReplay(filter));
  },
  run: async ({ partners }, { form: { filters, typed }, origin }) => {
    requireFilter(filters);
    const filter = toFilter(filters);
    const events = sumOf((await partners.receipts.previewReplay(filter)).queued);
    if (typed !== String(events))
      refuseTyped(`This is not the number of events that match now: ${events}.`);
    const replayed = await partners.receipts.replayAll(filter, origin);
    return { location: receiptsPath(filters), ...replayNotice(replayed) };
  },
});

/** Of the address, or of the form that came back. */
function filtersOf(request: PortalRequest<unknown, ReceiptsQuery>): ReceiptsFilters {
  const { query, typed, problems } = request;
  if (problems.length > 0) return receiptsForm.safeParse(typed).data?.filters ?? {};
  const { cursor: _cursor, ...filters } = query;
  return filters;
}

function confirmationOf(
  filters: ReceiptsFilters,
  preview: ReplayPreview,
): Confirmation | PortalPage {
  const back = { href: receiptsPath(filters), text: 'As filtered' };
  const place = {
    title: 'Replay all that match?',
    section: 'receipts',
    crumbs: [back],
  } as const;
  const events = sumOf(preview.queued);
  if (events === 0) return { ...place, body: nothingToReplay(preview, back.href) };
  return {
    ...place,
    failed: 'Nothing was replayed',
    values: Object.fromEntries(givenFilters(filters)),
    consequences: consequencesOf(filters, preview),
    toType: `Type the number of events: ${events}`,
    submit: `Replay ${counted(events, 'event')}`,
    wayOut: 'Back to the list',
  };
}

/** Everything at once is never meant. @throws {validation-failed} */
function requireFilter(filters: ReceiptsFilters): void {
  if (givenFilters(filters).length > 0) return;
  const detail = 'Choose a filter in the list first: a replay of everything is not offered here.';
  refuse([{ pointer: '', code: 'required', detail }]);
}

function nothingToReplay({ notQueued }: ReplayPreview, href: string) {
  return notice({
    state: 'mute',
    id: 'nothing',
    heading: 'Nothing to replay',
    text: `No receipt that matches has an event that failed or found nobody and can be worked again. ${droppedWords(sumOf(notQueued))}`,
    actions: link(href, 'Back to the list', { look: 'button' }),
  });
}

function consequencesOf(filters: ReceiptsFilters, { queued, notQueued }: ReplayPreview) {
  const events = sumOf(queued);
  const dropped = sumOf(notQueued);
  return [
    html`Receipts with all of this: ${filtersText(filters)}.`,
    html`<b>${counted(events, 'event')}</b> of them ${events === 1 ? 'starts' : 'start'} anew, with
      all attempts: ${countWords(queued)}.`,
    ...(dropped > 0 ? [droppedWords(dropped)] : []),
    'What is done, ignored, rejected or under way stays as it is. It is harmless for issues that are already as they should be.',
    'Leads that an operator gave back stay given back.',
    'It cannot be called back, and goes into the audit log.',
  ];
}

function sumOf(counts: Partial<Record<Outcome, number>>): number {
  return Object.values(counts).reduce((sum, n) => sum + n, 0);
}

function droppedWords(dropped: number): string {
  if (dropped === 0) return '';
  return `${count(dropped)} more cannot be worked again: their content was dropped after 30 days, and only the partner can send it again.`;
}

/** Result of a replay, or why it did nothing, in a sentence. */
export function replayNotice({ queued, notQueued = {} }: Replayed): Once {
  const left = Object.entries(notQueued) as [NotQueuedReason, number][];
  const rest = left.map(([reason, n]) => `${count(n)} ${notReplayed[reason]}`).join(', ');
  const others = rest === '' ? '' : ` Left as they are: ${rest}.`;
  if (queued > 0)
    return { notice: `${counted(queued, 'event')} queued: work begins now.${others}` };
  const why = rest === '' ? ': no event failed or found nobody.' : `.${others}`;
  return { isUndone: true, notice: `Nothing was replayed${why}` };
}

import type { Outcome } from '#partners/receipts/receipt.ts';
import type { ReplayPreview } from '#partners/receipts/receipt-store.ts';
import type { FormProblem } from '../../../page.ts';
import type { PortalPerson } from '../../../person.ts';
import { html } from '../../../html.ts';
import type { Html } from '../../../html.ts';
import { input } from '../../../shell/fields.ts';
import { confirmation } from '../../../shell/forms.ts';
import { errorSummary, notice, problemOf } from '../../../shell/notice.ts';
import { link } from '../../../shell/parts.ts';
import { count, counted } from '../../../shell/times.ts';
import { filterWords } from '../list-view.ts';
import { givenFilters, RECEIPTS_PATH, receiptsPath } from '../query.ts';
import type { ReceiptsFilters } from '../query.ts';
import { countWords } from '../words.ts';

export type ReplayFacts = {
  filters: ReceiptsFilters;
  preview: ReplayPreview;
  person: PortalPerson;
  problems?: readonly FormProblem[];
};

/** Asks for the number of events before all that match are worked again. */
export function replayView({ filters, preview, person, problems = [] }: ReplayFacts): Html {
  const { queued, left } = preview;
  const events = sumOf(queued);
  const dropped = sumOf(left);
  const back = receiptsPath(filters);
  if (events === 0)
    return notice({
      state: 'mute',
      id: 'nothing',
      heading: 'Nothing to replay',
      text: `No receipt that matches has an event that failed or found nobody and can be worked again. ${droppedWords(dropped)}`,
      actions: link({ href: back, text: 'Back to the list', look: 'button' }),
    });
  return html`${
    problems.length > 0 && errorSummary({ heading: 'Nothing was replayed', problems })
  }${confirmation({
    action: `${RECEIPTS_PATH}/replay`,
    person,
    values: Object.fromEntries(givenFilters(filters)),
    consequences: [
      html`Receipts with all of this:
      ${filterWords(filters)
        .map(([, words]) => words)
        .join(', ')}.`,
      html`<b>${counted(events, 'event')}</b> of them ${events === 1 ? 'starts' : 'start'} anew,
        with all attempts: ${countWords(queued)}.`,
      ...(dropped > 0 ? [droppedWords(dropped)] : []),
      'What is done, ignored, rejected or under way stays as it is. It is harmless for issues that are already as they should be.',
      'Leads that an operator gave back stay given back.',
      'It cannot be called back, and goes into the audit log.',
    ],
    fields: [
      input({
        name: 'typed',
        label: `Type the number of events: ${events}`,
        error: problemOf(problems, 'typed'),
      }),
    ],
    submit: `Replay ${counted(events, 'event')}`,
    cancel: { href: back, text: 'Back to the list' },
  })}`;
}

/** How many events a replay would queue. */
export function sumOf(counts: Partial<Record<Outcome, number>>): number {
  return Object.values(counts).reduce((sum, n) => sum + n, 0);
}

function droppedWords(dropped: number): string {
  if (dropped === 0) return '';
  return `${count(dropped)} more cannot be worked again: what they said was dropped after 30 days, and only the partner can send it again.`;
}

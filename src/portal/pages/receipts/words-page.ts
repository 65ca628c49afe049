import {
  type Outcome,
  outcomes,
  type ReceiptStatus,
  receiptStatuses,
} from '#partners/receipts/receipt.ts';
import { eventOutcomes, receiptStates } from '#shared/outcomes/events.ts';
import type { HtmlValue } from '../../html.ts';
import { page } from '../../routes/page-route.ts';
import { plainCard } from '../../shell/card.ts';
import { badgeOf, code } from '../../shell/elements.ts';
import { table } from '../../shell/list.ts';
import { SECTIONS, WORDS_PATH } from '../../paths.ts';

/** For the status of a receipt that such an event decides; for none of the others. */
function withStatus(outcome: Outcome, show: (status: ReceiptStatus) => HtmlValue): HtmlValue {
  const status = receiptStatuses.find((one) => receiptStates[one].by === outcome);
  return status && show(status);
}

/** Words for receipts and their events, with those of the API. */
export const wordsPage = page({
  path: WORDS_PATH,
  scope: SECTIONS.receipts.scope,
  show: async () => ({
    title: 'What the words mean',
    section: 'receipts',
    crumbs: [],
    meta: ['A receipt and its events share their words; the API writes them in capitals.'],
    body: plainCard(
      table<Outcome>({
        caption: 'Words for receipts and events',
        rows: outcomes,
        columns: [
          ['Word', (outcome) => badgeOf(eventOutcomes[outcome])],
          ['Of an event', (outcome) => eventOutcomes[outcome].meaning],
          [
            'Of a receipt',
            (outcome) => withStatus(outcome, (status) => receiptStates[status].meaning),
          ],
          ['Event in the API', (outcome) => code(outcome)],
          ['Receipt in the API', (outcome) => withStatus(outcome, code)],
        ],
      }),
    ),
  }),
});

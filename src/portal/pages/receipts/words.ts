import { type Outcome, outcomes, type ReceiptStatus } from '#partners/receipts/receipt.ts';
import type { PortalRoutes } from '../../routes/route-types.ts';
import { plainCard } from '../../shell/card.ts';
import { badgeOf, code } from '../../shell/elements.ts';
import { table } from '../../shell/list.ts';
import { OUTCOME_WORDS, scope, WORDS_PATH } from './names.ts';

const MEANINGS: Readonly<Record<Outcome, string>> = {
  PENDING: 'It is on disk, and is worked on or waits for its next attempt. Nobody has to act.',
  DONE: 'All that was to be done is done, or was so already.',
  UNMATCHED: 'No lead is known by what it names.',
  IGNORED: 'No rule is for its type, or a deletion has taken its lead.',
  REJECTED: 'It cannot be used: it names nobody, or is no object. Its partner has to send it anew.',
  FAILED: 'Trying again is of no use before somebody acts: a dead letter.',
};

const STATUSES: Readonly<Partial<Record<Outcome, { code: ReceiptStatus; meaning: string }>>> = {
  PENDING: { code: 'ACCEPTED', meaning: 'Some event of it is pending.' },
  DONE: { code: 'PROCESSED', meaning: 'Every event is done or ignored.' },
  UNMATCHED: { code: 'UNMATCHED', meaning: 'None failed, but one found nobody or was rejected.' },
  FAILED: { code: 'FAILED', meaning: 'At least one event failed.' },
};

/** What is said of receipts and of their events, with the words of the API. */
export function wordsPage(portal: PortalRoutes): void {
  portal.page(WORDS_PATH, { scope }, async () => ({
    title: 'What the words mean',
    section: 'receipts',
    crumbs: [],
    meta: ['A receipt and its events share their words; the API writes them in capitals.'],
    body: plainCard(
      table<Outcome>({
        caption: 'Words for receipts and events',
        rows: outcomes,
        columns: [
          ['Word', (outcome) => badgeOf(OUTCOME_WORDS[outcome])],
          ['Of an event', (outcome) => MEANINGS[outcome]],
          ['Of a receipt', (outcome) => STATUSES[outcome]?.meaning],
          ['Event in the API', (outcome) => code(outcome)],
          ['Receipt in the API', (outcome) => STATUSES[outcome] && code(STATUSES[outcome].code)],
        ],
      }),
    ),
  }));
}

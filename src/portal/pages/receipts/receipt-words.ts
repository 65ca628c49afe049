/** Words for receipts and their events, and the page that says what they mean. */
import {
  type Outcome,
  outcomes,
  type ReceiptStatus,
  receiptStatuses,
  type ReceiptSummary,
  type NameKind,
} from '#partners/receipts/receipt.ts';
import { byUrgency, capitalize, entryOf } from '#shared/outcomes/entry.ts';
import { eventReasons, eventOutcomes, receiptStates } from '#shared/outcomes/events.ts';
import type { PortalContext } from '../../context.ts';
import { html, type Html, type HtmlValue } from '../../html.ts';
import { WORDS_PATH, SECTIONS } from '../../paths.ts';
import { page } from '../../routes/page-route.ts';
import { plainCard } from '../../shell/card.ts';
import { badge, link, note, foreign, badgeOf, code } from '../../shell/elements.ts';
import { table } from '../../shell/list.ts';
import { count } from '../../shell/times.ts';

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

/** To what these words mean. */
export const wordsLink = (): Html => link(WORDS_PATH, 'What the words mean');

/** `2 failed, 1 done`, what needs somebody first. */
export function countWords(counts: Partial<Record<Outcome, number>>): string {
  return urgentFirst(counts)
    .map(([outcome, n]) => `${count(n)} ${eventOutcomes[outcome].title.toLowerCase()}`)
    .join(', ');
}

/** The outcomes of a receipt's events as badges; of a single event without a number. */
export function outcomeBadges({ outcomes: counts }: Pick<ReceiptSummary, 'outcomes'>): Html {
  const given = urgentFirst(counts);
  const sum = given.reduce((all, [, n]) => all + n, 0);
  if (sum === 0) return note('no event');
  return html`<span class="row"
    >${given.map(([outcome, n]) => {
      const { urgency, title } = eventOutcomes[outcome];
      return html`${badge(urgency, sum === 1 ? title : `${count(n)} ${title.toLowerCase()}`)} `;
    })}</span
  >`;
}

/** From what needs somebody to what is over. */
function urgentFirst(counts: Partial<Record<Outcome, number>>): [Outcome, number][] {
  return byUrgency(eventOutcomes).flatMap((outcome): [Outcome, number][] => {
    const n = counts[outcome] ?? 0;
    return n === 0 ? [] : [[outcome, n]];
  });
}

/** Tells receipts of one minute apart: ids begin with the time. */
export function shortId(id: string): string {
  return id.slice(-8);
}

/** Meaning of a code as a sentence, and what to do. One that is not known yet reads as that. */
export function remedyOf(code: string): { means: string; step: string } {
  const { meaning, next } = entryOf<typeof UNKNOWN>(eventReasons, code) ?? UNKNOWN;
  return { means: capitalize(meaning).replaceAll('`', ''), step: next };
}

const UNKNOWN = { meaning: 'its meaning is not known here', next: 'Look at the issue' };

const NAMES: Readonly<Record<NameKind, string>> = {
  'lead-id': 'lead number',
  'correlation-id': 'correlation id',
  'external-id': 'external id',
  email: 'e-mail',
};

/** `lead number, e-mail`. */
export function nameWords(names: readonly NameKind[]): string {
  return names.map((name) => NAMES[name]).join(', ');
}

type Unmatched = { names: readonly NameKind[]; lastError?: string };

/** Advice where an event found nobody, by what it looked for. */
export function adviceFor({ names, lastError }: Unmatched, partnerId: string): Html {
  const key = html`<code>externalIds.<wbr />${foreign(partnerId, 60)}</code>`;
  const steps: Readonly<Record<NameKind, HtmlValue>> = {
    'lead-id': 'Ask the partner which lead number it means.',
    'correlation-id': 'See that the portal writes the correlation id into the leads’ metadata.',
    'external-id': html`See that the partner’s id stands in the leads’ metadata, as ${key}.`,
    email: 'Ask the partner for another e-mail of the person: no lead ever had this one.',
  };
  if (lastError !== undefined) {
    const { means, step } = remedyOf(lastError);
    return html`${means}. ${step}.`;
  }
  const given = names.length > 0 ? names : (['external-id'] as const);
  return html`${given.map((name, at) => html`${at > 0 && ' '}${steps[name]}`)}`;
}

export type IssueAddress = PortalContext['tracker']['issueAddress'];

const LINKS_MAX = 10;

/** `#24`, as a link where the tracker's address is known. */
export function issueLink(number: string, issueAddress: IssueAddress): HtmlValue {
  const href = issueAddress(number);
  return href === undefined ? `#${number}` : link(href, `#${number}`);
}

/** `#24, #25 and 16 more`. */
export function issueLinks(numbers: readonly string[], issueAddress: IssueAddress): Html {
  const shown = numbers.slice(0, LINKS_MAX);
  const more = numbers.length - shown.length;
  return html`${shown.map(
    (number, at) => html`${at > 0 && ', '}${issueLink(number, issueAddress)}`,
  )}${more > 0 && ` and ${count(more)} more`}`;
}

import type {
  Outcome,
  ReceiptDetail,
  ReceiptStatus,
  ReceiptSummary,
} from '#partners/receipts/receipt.ts';
import { html, type Html, type HtmlValue } from '../../html.ts';
import type { PortalPerson } from '../../page.ts';
import { badge, link, note, type BadgeWords } from '../../shell/parts.ts';
import { count } from '../../shell/times.ts';
import type { PagesContext } from '../../context.ts';

export const STATUS_WORDS: Readonly<Record<ReceiptStatus, BadgeWords>> = {
  ACCEPTED: { state: 'wait', words: 'Accepted' },
  PROCESSED: { state: 'ok', words: 'Processed' },
  UNMATCHED: { state: 'warn', words: 'Unmatched' },
  FAILED: { state: 'bad', words: 'Failed' },
};

export const OUTCOME_WORDS: Readonly<Record<Outcome, BadgeWords>> = {
  PENDING: { state: 'wait', words: 'Pending' },
  DONE: { state: 'ok', words: 'Done' },
  UNMATCHED: { state: 'warn', words: 'Unmatched' },
  IGNORED: { state: 'mute', words: 'Ignored' },
  REJECTED: { state: 'odd', words: 'Rejected' },
  FAILED: { state: 'bad', words: 'Failed' },
};

/** From what needs somebody to what is over. */
const URGENCY: readonly Outcome[] = [
  'FAILED',
  'UNMATCHED',
  'REJECTED',
  'PENDING',
  'DONE',
  'IGNORED',
];

/** `2 failed, 1 done`, what needs somebody first. */
export function countWords(counts: Partial<Record<Outcome, number>>): string {
  return counted(counts)
    .map(([outcome, n]) => `${count(n)} ${OUTCOME_WORDS[outcome].words.toLowerCase()}`)
    .join(', ');
}

/** The outcomes of a receipt's events as badges; of a single event without a number. */
export function outcomeBadges({ outcomes: counts }: Pick<ReceiptSummary, 'outcomes'>): Html {
  const given = counted(counts);
  const sum = given.reduce((all, [, n]) => all + n, 0);
  if (sum === 0) return note('no event');
  return html`<span class="row"
    >${given.map(([outcome, n]) => {
      const { state, words } = OUTCOME_WORDS[outcome];
      return html`${badge(state, sum === 1 ? words : `${count(n)} ${words.toLowerCase()}`)} `;
    })}</span
  >`;
}

function counted(counts: Partial<Record<Outcome, number>>): [Outcome, number][] {
  return URGENCY.flatMap((outcome): [Outcome, number][] => {
    const n = counts[outcome] ?? 0;
    return n === 0 ? [] : [[outcome, n]];
  });
}

/** What tells receipts of one minute apart: ids begin with the time. */
export function shortId(id: string): string {
  return id.slice(-8);
}

export type IssueAddress = PagesContext['tracker']['issueAddress'];

/** What is known of the leads of a page. */
export type Leads = {
  issueAddress: IssueAddress;
  /** Numbers of those that a deletion hides now. */
  claimed: ReadonlySet<string>;
};

/** A receipt as its page shows it. */
export type ReceiptFacts = {
  receipt: ReceiptDetail;
  person: PortalPerson;
  leads: Leads;
  /** How many events stand before the first that is shown. */
  start: number;
  /** For the partner; undefined once it is too old. */
  statusAddress?: string;
};

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

/** The page of the claim on a lead, or one below it. */
export function claimPath(number: string, ...below: string[]): string {
  return ['/portal/claims', encodeURIComponent(number), ...below].join('/');
}

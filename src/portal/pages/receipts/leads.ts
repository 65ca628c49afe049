import { html, type Html, type HtmlValue } from '../../html.ts';
import { link } from '../../shell/parts.ts';
import type { PagesContext } from '../context.ts';

export type IssueAddress = PagesContext['tracker']['issueAddress'];

/** What is known of the leads of a page. */
export type Leads = {
  issueAddress: IssueAddress;
  /** Numbers of those that a deletion hides now. */
  claimed: ReadonlySet<string>;
};

const LINKS_MAX = 10;

/** `#24`, as a link where the tracker's address is known. */
export function issueLink(number: string, issueAddress: IssueAddress): HtmlValue {
  const href = issueAddress(number);
  return href === undefined ? `#${number}` : link({ href, text: `#${number}` });
}

/** `#24, #25 and 16 more`. */
export function issueLinks(numbers: readonly string[], issueAddress: IssueAddress): Html {
  const shown = numbers.slice(0, LINKS_MAX);
  const more = numbers.length - shown.length;
  return html`${shown.map(
    (number, at) => html`${at > 0 && ', '}${issueLink(number, issueAddress)}`,
  )}${more > 0 && ` and ${more} more`}`;
}

/** The page of the claim on a lead, or one below it. */
export function claimPath(number: string, ...below: string[]): string {
  return ['/portal/claims', encodeURIComponent(number), ...below].join('/');
}

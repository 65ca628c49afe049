import type { ClaimOut } from '#leads/claims/claim-out.ts';
import type { FormProblem } from '../../../page.ts';
import type { PortalPerson } from '../../../person.ts';
import { html } from '../../../html.ts';
import type { Html } from '../../../html.ts';
import { body, card, facts, row } from '../../../shell/card.ts';
import { input } from '../../../shell/fields.ts';
import { confirmation } from '../../../shell/forms.ts';
import { errorSummary, notice, problemOf, remark } from '../../../shell/notice.ts';
import { code, link } from '../../../shell/parts.ts';
import { time } from '../../../shell/times.ts';
import type { Reader } from '../../../shell/times.ts';
import { claimPath, issueLink } from '../leads.ts';
import type { IssueAddress } from '../leads.ts';
import { receiptPath, receiptsPath } from '../query.ts';

export type ClaimFacts = {
  /** The lead's. */
  number: string;
  /** Undefined: nothing hides it. */
  claim: ClaimOut | undefined;
  issueAddress: IssueAddress;
};

const RECEIPTS_MAX = 20;

/** Which deletions hide a lead, since when, and how to give it back. */
export function claimView({ number, claim, issueAddress }: ClaimFacts, reader: Reader): Html {
  const history = html`${link({ href: receiptsPath({ leadId: number }), text: 'Its receipts' })}
  ${link({
    href: `/portal/audit?on=${encodeURIComponent(`claim/${number}`)}`,
    text: 'What was done to its claims',
  })}`;
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
    actions: link({ href: claimPath(number, 'release'), text: 'Release…', look: 'button' }),
  })}
  ${card(
    { id: 'h-claim', heading: 'Claim' },
    body(
      facts([
        { term: 'Issue', value: issueLink(number, issueAddress) },
        { term: 'Hidden since', value: time(Date.parse(claim.claimedAt), reader) },
        {
          term: 'By receipts',
          value: html`${shown.map((id) => html`${link({ href: receiptPath(id), text: code(id) })} `)}
          ${more > 0 && `and ${more} more`}`,
        },
      ]),
      row(history),
    ),
  )}`;
}

export type ReleaseFacts = ClaimFacts & {
  person: PortalPerson;
  problems?: readonly FormProblem[];
};

/** Asks for the number of the lead before readers see it again. */
export function releaseView(given: ReleaseFacts, reader: Reader): Html {
  const { number, claim, person, issueAddress, problems = [] } = given;
  if (claim === undefined) return claimView(given, reader);
  return html`${
    problems.length > 0 && errorSummary({ heading: 'Not released', problems })
  }${confirmation({
    action: claimPath(number, 'release'),
    person,
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
    fields: [
      input({
        name: 'typed',
        label: `Type the number of the lead: ${number}`,
        error: problemOf(problems, 'typed'),
      }),
    ],
    submit: 'Release lead',
    danger: true,
    cancel: { href: claimPath(number), text: 'Keep it hidden' },
  })}`;
}

import { erasures } from '#partners/receipts/receipt.ts';
import type { Erasure, ReceiptEventDetail } from '#partners/receipts/receipt.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { body, card, list } from '../../shell/card.ts';
import { badge } from '../../shell/parts.ts';
import type { State } from '../../shell/parts.ts';
import { details } from '../../shell/texts.ts';
import { issueLink, issueLinks } from './leads.ts';
import type { IssueAddress } from './leads.ts';

const HISTORIES_MAX = 5;

type Kind = Erasure | 'none' | 'open';

const WORDS: Readonly<Record<Kind, { state: State; words: string }>> = {
  complete: { state: 'ok', words: 'Complete' },
  'incomplete-history': { state: 'warn', words: 'Incomplete: history' },
  impossible: { state: 'bad', words: 'Deleting was not allowed' },
  none: { state: 'mute', words: 'Not erased, as configured' },
  open: { state: 'wait', words: 'Not yet' },
};

/** What of the persons' data is erased, and what is still there. */
export function erasureCard(
  events: readonly ReceiptEventDetail[],
  issueAddress: IssueAddress,
): Html | undefined {
  const matched = events.filter(({ leadIds }) => leadIds.length > 0);
  if (matched.length === 0) return undefined;
  const parts = (['open', ...erasures.toReversed(), 'none'] as const).flatMap((kind) => {
    const leadIds = matched.filter((event) => kindOf(event) === kind).flatMap((one) => one.leadIds);
    return leadIds.length === 0 ? [] : [part(kind, [...new Set(leadIds)], issueAddress)];
  });
  return card({ id: 'h-erasure', heading: 'Erasure' }, body(parts, beyondReach()));
}

function kindOf({ outcome, erasure }: ReceiptEventDetail): Kind {
  if (erasure !== undefined) return erasure;
  return outcome === 'DONE' ? 'none' : 'open';
}

function part(kind: Kind, leadIds: readonly string[], issueAddress: IssueAddress): Html {
  const { state, words } = WORDS[kind];
  return html`<p>${badge(state, words, { fill: true })}</p>
    ${explanation(kind, leadIds, issueAddress)}`;
}

function explanation(kind: Kind, leadIds: readonly string[], issueAddress: IssueAddress): Html {
  const issues = issueLinks(leadIds, issueAddress);
  switch (kind) {
    case 'complete':
      return html`<p>${issues} ${leadIds.length === 1 ? 'is' : 'are'} deleted on the tracker.</p>`;
    case 'incomplete-history':
      return html`<p>
          Title and body of ${issues} are replaced.
          <b>The old text is still in each issue’s edit history</b>, where only a person can take it
          out, one revision at a time.
        </p>
        ${list(
          ...leadIds
            .slice(0, HISTORIES_MAX)
            .map((number) => html`History of ${issueLink(number, issueAddress)}`),
        )}`;
    case 'impossible':
      return html`<p>
        ${issues} was to be deleted, and the credential may not: the other actions were done
        instead. What the issue said <b>is still on the tracker</b>, in its history at least.
      </p>`;
    case 'none':
      return html`<p>
        ${issues}: this partner’s deletions neither replace nor delete,
        <b>title and body are still on the tracker</b>.
      </p>`;
    case 'open':
      return html`<p>${issues}: nothing is known to be erased until the event is done.</p>`;
  }
}

function beyondReach(): Html {
  return details(
    'What no deletion here can reach',
    list(
      'e-mails that the tracker sent when the issue was opened',
      'copies that other consumers made; they learn of it from the removals',
      'comments that people wrote',
      'backups',
    ),
  );
}

import type { AuditEntryOut } from '#access/audit/audit-out.ts';
import { auditActions } from '#shared/audit.ts';
import { withQuery } from '../../address.ts';
import { html } from '../../html.ts';
import type { Html, HtmlValue } from '../../html.ts';
import type { EmptyFacts } from '../../shell/card.ts';
import { chips } from '../../shell/forms.ts';
import { code, foreign, link, note, shortId } from '../../shell/parts.ts';
import { isFiltered, listCard } from '../../shell/list.ts';
import type { Listed } from '../../shell/list.ts';
import type { Column } from '../../shell/table.ts';
import { counted, time } from '../../shell/times.ts';
import type { Reader } from '../../shell/times.ts';
import type { AuditQuery } from './query.ts';

export const AUDIT_PATH = '/portal/audit';

type AuditViewFacts = Listed<AuditEntryOut, AuditQuery> & {
  /** Whose entries came through this portal. */
  portalClientId: string;
  /** Artifacts of another one have no page here. */
  workspaceId: string;
};

/** One page of the audit log with its filters. */
export function auditView(found: AuditViewFacts, reader: Reader): Html {
  return listCard({
    ...found,
    pathOf: (query) => withQuery(AUDIT_PATH, query),
    label: 'Filter the audit',
    filters: [
      { name: 'who', label: 'Who' },
      {
        name: 'what',
        label: 'What',
        any: 'Anything',
        choices: auditActions.map((action) => ({ value: action, label: action })),
      },
      { name: 'on', label: 'On', placeholder: 'consumer/… or claim/…', isWide: true },
      { name: 'from', label: 'From', type: 'date' },
      { name: 'to', label: 'To', type: 'date' },
    ],
    chips: filterChips(found.query),
    caption: 'Changes, newest first',
    columns: columnsFor(found, reader),
    summary: `${counted(found.items.length, 'entry', 'entries')} on this page, newest first`,
    nothingFits: nothing(isFiltered(found.query)),
  });
}

function nothing(hasFilter: boolean): EmptyFacts {
  return {
    id: 'no-entries',
    heading: hasFilter ? 'Nothing like this' : 'Nothing was changed yet',
    text: hasFilter
      ? 'No entry fits all of these filters.'
      : 'Every change of consumers, keys, receipts, claims and artifacts will stand here.',
    ...(hasFilter && { next: link({ href: AUDIT_PATH, text: 'Show all', look: 'button' }) }),
  };
}

function filterChips({ cursor: _cursor, ...filtered }: AuditQuery): Html {
  const given = Object.entries(filtered).filter(([, value]) => value !== undefined);
  return chips({
    chips: given.map(([name, value]) => ({
      label: `${name} ${value}`,
      href: withQuery(AUDIT_PATH, { ...filtered, [name]: undefined }),
    })),
  });
}

function columnsFor(found: AuditViewFacts, reader: Reader): Column<AuditEntryOut>[] {
  const { query, portalClientId, workspaceId } = found;
  const only = (name: 'who' | 'on', value: string): string =>
    withQuery(AUDIT_PATH, { ...query, cursor: undefined, [name]: value });
  return [
    { label: 'When', kind: 'whole', cell: ({ at }) => time(Date.parse(at), reader) },
    {
      label: 'Who',
      cell: ({ actor }) =>
        html`${link({ href: only('who', actor.subject), text: foreign(actor.subject, 60) })}
        ${note(wayOf(actor, portalClientId))}`,
    },
    { label: 'What', cell: ({ action }) => code(action) },
    {
      label: 'On',
      cell: ({ subject }) => subjectLink(subject, workspaceId, only('on', subject)),
    },
    { label: 'Detail', cell: ({ changes }) => changesText(changes) },
    { label: 'Request', cell: ({ requestId }) => requestId && shortId(requestId) },
  ];
}

function wayOf({ kind, clientId }: AuditEntryOut['actor'], portalClientId: string): string {
  if (kind === 'cli') return 'command line';
  if (kind === 'system') return 'Trackport';
  return clientId === portalClientId ? 'portal' : 'API';
}

/** Leads to the page of what was changed where there is one, else to all that was done to it. */
function subjectLink(subject: string, workspaceId: string, entriesOfSubject: string): HtmlValue {
  const [kind, ...rest] = subject.split('/');
  const id = encodeURIComponent(rest.at(-1) ?? '');
  const page = { consumer: 'consumers', receipt: 'receipts', claim: 'claims', artifact: 'catalog' }[
    kind ?? ''
  ];
  const isElsewhere = kind === 'artifact' && rest[0] !== workspaceId;
  const hasPage = page !== undefined && id !== '' && !isElsewhere;
  const href = hasPage ? `/portal/${page}/${id}` : entriesOfSubject;
  return link({ href, text: foreign(subject, 80) });
}

const CHARACTERS_MAX = 120;

/** What an entry of the audit says was changed, in one line; undefined when it says nothing. */
export function changesText(changes: AuditEntryOut['changes']): Html | undefined {
  if (!changes) return undefined;
  const parts = Object.entries(changes).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return foreign(parts.join(', '), CHARACTERS_MAX);
}

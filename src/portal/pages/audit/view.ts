import type { AuditEntryOut } from '#access/audit/audit-out.ts';
import { auditActions } from '#shared/audit.ts';
import type { Pagination } from '#shared/pagination/page.ts';
import { withQuery } from '../../address.ts';
import { html } from '../../html.ts';
import type { Html, HtmlValue } from '../../html.ts';
import type { WrongFilters } from '../../routes/route-types.ts';
import { empty, plainCard } from '../../shell/card.ts';
import { input, select } from '../../shell/fields.ts';
import { chips, filters, wide } from '../../shell/forms.ts';
import { code, foreign, link, note, shortId } from '../../shell/parts.ts';
import { pager, table } from '../../shell/table.ts';
import { counted, time } from '../../shell/times.ts';
import type { Reader } from '../../shell/times.ts';
import type { AuditQuery } from './query.ts';

export const AUDIT_PATH = '/portal/audit';

type AuditViewFacts = {
  entries: readonly AuditEntryOut[];
  pagination: Pagination;
  query: AuditQuery;
  wrong: WrongFilters;
  /** Whose entries came through this portal. */
  portalClientId: string;
  /** Artifacts of another one have no page here. */
  workspaceId: string;
};

/** One page of the audit log with its filters. */
export function auditView(given: AuditViewFacts, reader: Reader): Html {
  const { entries, pagination, query } = given;
  const { cursor, ...filtered } = query;
  const newest = withQuery(AUDIT_PATH, filtered);
  if (entries.length === 0)
    return plainCard(filterForm(given), filterChips(query), nothing(filtered));
  return plainCard(
    filterForm(given),
    filterChips(query),
    entriesTable(given, reader),
    pager({
      summary: `${counted(entries.length, 'entry', 'entries')} on this page, newest first`,
      ...(cursor !== undefined && { newest }),
      ...(pagination.nextCursor !== undefined && {
        older: withQuery(AUDIT_PATH, { ...filtered, cursor: pagination.nextCursor }),
      }),
    }),
  );
}

function nothing(filtered: AuditQuery): Html {
  const isFiltered = Object.values(filtered).some((value) => value !== undefined);
  return empty(
    {
      id: 'no-entries',
      heading: isFiltered ? 'Nothing like this' : 'Nothing was changed yet',
      text: isFiltered
        ? 'No entry fits all of these filters.'
        : 'Every change of consumers, keys, receipts, claims and artifacts will stand here.',
      ...(isFiltered && { next: link({ href: AUDIT_PATH, text: 'Show all', look: 'button' }) }),
    },
    { inCard: true },
  );
}

function filterForm({ query: { who, what, on, from, to }, wrong }: AuditViewFacts): Html {
  const actions = auditActions.map((action) => ({ value: action, label: action }));
  return filters({
    action: AUDIT_PATH,
    label: 'Filter the audit',
    fields: [
      input({ name: 'who', label: 'Who', value: who, ...wrong['who'] }),
      select({
        name: 'what',
        label: 'What',
        value: what,
        choices: [{ value: '', label: 'Anything' }, ...actions],
        ...wrong['what'],
      }),
      wide(
        input({
          name: 'on',
          label: 'On',
          value: on,
          placeholder: 'consumer/… or claim/…',
          ...wrong['on'],
        }),
      ),
      input({ name: 'from', label: 'From', type: 'date', value: from, ...wrong['from'] }),
      input({ name: 'to', label: 'To', type: 'date', value: to, ...wrong['to'] }),
    ],
  });
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

function entriesTable(given: AuditViewFacts, reader: Reader): Html {
  const { entries, query, portalClientId, workspaceId } = given;
  const filtered = { ...query, cursor: undefined };
  const only = (name: 'who' | 'on', value: string): string =>
    withQuery(AUDIT_PATH, { ...filtered, [name]: value });
  return table<AuditEntryOut>({
    caption: 'Changes, newest first',
    rows: entries,
    columns: [
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
    ],
  });
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

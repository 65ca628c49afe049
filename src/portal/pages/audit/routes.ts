import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { AuditFilter } from '#access/audit/audit-reader.ts';
import type { Access } from '#access/index.ts';
import type { Clock } from '#shared/clock.ts';
import { withQuery } from '../../address.ts';
import type { PortalRoutes } from '../../routes/route-types.ts';
import { link } from '../../shell/parts.ts';
import { count } from '../../shell/times.ts';
import { auditQuery, toFilter } from './query.ts';
import { AUDIT_PATH, auditView } from './view.ts';
import type { AuditEntryOut } from '#access/audit/audit-out.ts';

export type AuditPagesDeps = {
  access: Pick<Access, 'listAudit'>;
  portalClientId: string;
  clock: Pick<Clock, 'now'>;
};

/** As many as fit into a page, however long the names of who did it. */
const PAGE_ENTRIES = 20;
/** How many entries a file has at most, and how many of them are read at a time. */
const FILE_ENTRIES_MAX = 10_000;
const FILE_STEP = 100;

/** `/portal/audit` and what is filtered there as a file for spreadsheets. */
export function auditPages(portal: PortalRoutes, deps: AuditPagesDeps): void {
  const { access, portalClientId, clock } = deps;
  const options = { scope: 'trackport:admin', query: auditQuery } as const;
  portal.page(AUDIT_PATH, { ...options, isList: true }, async ({ person, query, wrong }) => {
    const { cursor, ...filtered } = query;
    const request = { filter: toFilter(query, person.timeZone), limit: PAGE_ENTRIES };
    const page = await access.listAudit(cursor === undefined ? request : { ...request, cursor });
    const { timeZone, workspaceId } = person;
    const reader = { timeZone, nowMs: clock.now() };
    return {
      title: 'Audit',
      section: 'audit',
      meta: [
        'Every change, by portal, API or command line. Never a secret, never personal data of leads.',
      ],
      actions: link({
        href: withQuery(`${AUDIT_PATH}/file`, filtered),
        text: 'Download CSV',
        more: `of what is filtered, the newest ${count(FILE_ENTRIES_MAX)} entries at most`,
        look: 'button',
        download: true,
      }),
      body: auditView({ ...page, query, wrong, portalClientId, workspaceId }, reader),
    };
  });
  portal.page(`${AUDIT_PATH}/file`, options, async ({ person, query }) => ({
    fileName: 'trackport-audit.csv',
    mediaType: 'text/csv; charset=utf-8',
    content: Readable.from(readSteps(access, toFilter(query, person.timeZone))),
  }));
}

/** The file's parts, with a turn of the event loop for others between two: a store on this machine answers at once. */
async function* readSteps(access: AuditPagesDeps['access'], filter: AuditFilter) {
  let cursor: string | undefined;
  let found = 0;
  do {
    const request = { filter, limit: FILE_STEP, ...(cursor !== undefined && { cursor }) };
    const page = await access.listAudit(request);
    yield `${found === 0 ? CSV_HEADER : ''}${toCsv(page.items)}`;
    found += page.items.length;
    cursor = page.pagination.nextCursor;
    await setImmediate();
  } while (cursor !== undefined && found < FILE_ENTRIES_MAX);
}

/** The first line. */
const CSV_HEADER = 'at,actor,actorKind,clientId,action,subject,changes,requestId\r\n';

/**
 * Lines of entries as RFC 4180 has it. Text that a spreadsheet would take for a formula gets an
 * apostrophe before it.
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
export function toCsv(entries: readonly AuditEntryOut[]): string {
  const rows = entries.map(({ at, actor, action, subject, changes, requestId }) => [
    at,
    actor.subject,
    actor.kind,
    actor.clientId ?? '',
    action,
    subject,
    changes === undefined ? '' : JSON.stringify(changes),
    requestId ?? '',
  ]);
  return rows.map((row) => `${row.map(toCell).join(',')}\r\n`).join('');
}

function toCell(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

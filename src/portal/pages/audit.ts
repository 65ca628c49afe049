import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import type { AuditEntryOut, AuditFilter } from '#access/audit-log.ts';
import type { Grant } from '#access/grant.ts';
import type { Access } from '#access/index.ts';
import { auditActions } from '#shared/audit.ts';
import {
  cursorFilter,
  instantFilter,
  oneOfFilter,
  textFilter,
  spanOf,
  type ListRequest,
  type Found,
  isFiltered,
  listCard,
  type Column,
  spanFilters,
} from '../shell/list.ts';
import { html, type Html, type HtmlValue } from '../html.ts';
import { withQuery, AUDIT_PATH, SECTIONS } from '../paths.ts';
import { page } from '../routes/page-route.ts';
import { code, foreign, link, note } from '../shell/elements.ts';
import { choicesOf } from '../shell/forms.ts';
import { count, counted, type Viewer, time } from '../shell/times.ts';
import { grantWords } from './consumers/consumer-list.ts';

/** The address of the page: what a form leaves empty is no filter. */
export const auditQuery = z.strictObject({
  who: textFilter(),
  what: oneOfFilter(auditActions),
  on: textFilter(),
  request: textFilter(),
  from: instantFilter,
  to: instantFilter,
  cursor: cursorFilter,
});

type AuditQuery = z.output<typeof auditQuery>;

export function toFilter({ who, what, on, request, ...span }: AuditQuery): AuditFilter {
  return { actor: who, action: what, subject: on, requestId: request, ...spanOf(span) };
}

/** As many as fit into a page, however long the names of who did it. */
const PAGE_ENTRIES = 20;
/** Entries of a file at most, and those that are read at a time. */
const FILE_ENTRIES_MAX = 10_000;
const FILE_STEP = 100;

const { scope } = SECTIONS.audit;

/** `/portal/audit` and what is filtered there as a file for spreadsheets. */
export const auditPage = page({
  path: AUDIT_PATH,
  scope,
  query: auditQuery,
  isList: true,
  show: async ({ access, portalClientId }, request) => {
    const { person, query } = request;
    const { cursor, ...filtered } = query;
    const filter = toFilter(query);
    const found = await access.listAudit({ filter, limit: PAGE_ENTRIES, cursor });
    const names = await namesOf(found.items, access);
    const { workspaceId } = person;
    return {
      title: 'Audit',
      section: 'audit',
      meta: [
        'Every change, by portal, API or command line. Never a secret, never personal data of leads.',
      ],
      actions: link(withQuery(`${AUDIT_PATH}/file`, filtered), 'Download CSV', {
        more: `of what is filtered, the newest ${count(FILE_ENTRIES_MAX)} entries at most`,
        look: 'button',
        download: true,
      }),
      body: auditView({ ...found, names, portalClientId, workspaceId }, request),
    };
  },
});

export const auditFile = page({
  path: `${AUDIT_PATH}/file`,
  scope,
  query: auditQuery,
  show: async ({ access }, { query }) => ({
    fileName: 'trackport-audit.csv',
    mediaType: 'text/csv; charset=utf-8',
    content: Readable.from(readSteps(access, toFilter(query))),
  }),
});

const CONSUMER = 'consumer/';

/** Names of the consumers that were changed, by the entries' subjects; of those that are still there. */
async function namesOf(
  entries: readonly AuditEntryOut[],
  { consumers }: Pick<Access, 'consumers'>,
): Promise<ReadonlyMap<string, string>> {
  const subjects = new Set(entries.map(({ subject }) => subject));
  const names = [...subjects]
    .filter((subject) => subject.startsWith(CONSUMER))
    .map(async (subject) => {
      const consumer = await consumers.read(subject.slice(CONSUMER.length)).catch(() => undefined);
      return consumer ? [[subject, consumer.name] as const] : [];
    });
  return new Map((await Promise.all(names)).flat());
}

/** The file's parts, with a turn of the event loop for others between two: a store on this machine answers at once. */
async function* readSteps(access: Pick<Access, 'listAudit'>, filter: AuditFilter) {
  let cursor: string | undefined;
  let found = 0;
  do {
    const part = await access.listAudit({ filter, limit: FILE_STEP, cursor });
    yield `${found === 0 ? CSV_HEADER : ''}${toCsv(part.items)}`;
    found += part.items.length;
    cursor = part.pagination.nextCursor;
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

type AuditFound = Found<AuditEntryOut> & {
  /** By subject; without one the subject itself is shown. */
  names: ReadonlyMap<string, string>;
  /** The client whose entries came through this portal. */
  portalClientId: string;
  /** Artifacts of another one have no page here. */
  workspaceId: string;
};

/** One page of the audit log with its filters. */
export function auditView(found: AuditFound, request: ListRequest<AuditQuery>): Html {
  const hasFilter = isFiltered(request.query);
  const list = {
    ...found,
    pathOf: (query: AuditQuery) => withQuery(AUDIT_PATH, query),
    label: 'Filter the audit',
    filters: [
      { name: 'who', label: 'Who' },
      {
        name: 'what',
        label: 'What',
        any: 'Anything',
        choices: choicesOf(auditActions),
      },
      { name: 'on', label: 'On', placeholder: 'consumer/… or claim/…', isWide: true },
      ...spanFilters,
      { name: 'request', label: 'Request', isWide: true },
    ],
    filterText: (name: string, value: string) => `${name} ${value}`,
    caption: 'Changes, newest first',
    columns: columnsFor(found, request),
    summary: `${counted(found.items.length, 'entry', 'entries')} on this page, newest first`,
    nothingFits: {
      id: 'no-entries',
      heading: hasFilter ? 'Nothing like this' : 'Nothing was changed yet',
      text: hasFilter
        ? nothingText(request.query)
        : 'Every change of consumers, keys, receipts, claims and artifacts will stand here.',
      ...(!hasFilter && { next: undefined }),
    },
  };
  return listCard(list, request);
}

function nothingText({ request }: AuditQuery): HtmlValue {
  const none = 'No entry fits all of these filters.';
  if (request === undefined) return none;
  return html`${none} A request that changed nothing has none: look for ${code('requestId')} in the
  log.`;
}

function columnsFor(
  { portalClientId, workspaceId, names }: AuditFound,
  { query, viewer }: ListRequest<AuditQuery>,
): Column<AuditEntryOut>[] {
  const only = (name: 'who' | 'on' | 'request', value: string): string =>
    withQuery(AUDIT_PATH, { ...query, cursor: undefined, [name]: value });
  return [
    ['When', ({ at }) => time(Date.parse(at), viewer), 'whole'],
    [
      'Who',
      ({ actor }) =>
        html`${link(only('who', actor.subject), foreign(actor.subject, 60))}
        ${note(wayOf(actor, portalClientId))}`,
    ],
    ['What', ({ action }) => code(action), 'whole'],
    [
      'On',
      ({ subject }) => {
        const name = names.get(subject);
        const words =
          name === undefined ? foreign(subject, 80) : html`consumer ${foreign(name, 60)}`;
        return link(pageOfSubject(subject, workspaceId) ?? only('on', subject), words);
      },
    ],
    [
      'Detail',
      ({ changes, requestId }) =>
        html`${changesText(changes, viewer)}
        ${
          requestId !== undefined &&
          note(
            'Request ',
            link(only('request', requestId), html`<span class="n">${code(requestId)}</span>`),
          )
        }`,
    ],
  ];
}

function wayOf({ kind, clientId }: AuditEntryOut['actor'], portalClientId: string): string {
  if (kind === 'cli') return 'command line';
  if (kind === 'system') return 'Trackport';
  return clientId === portalClientId ? 'portal' : 'API';
}

/** The page of what was changed, where there is one. */
function pageOfSubject(subject: string, workspaceId: string): string | undefined {
  const [kind, ...rest] = subject.split('/');
  const id = encodeURIComponent(rest.at(-1) ?? '');
  const section = {
    consumer: 'consumers',
    receipt: 'receipts',
    claim: 'claims',
    artifact: 'catalog',
  }[kind ?? ''];
  const isElsewhere = kind === 'artifact' && rest[0] !== workspaceId;
  return section !== undefined && id !== '' && !isElsewhere
    ? `/portal/${section}/${id}`
    : undefined;
}

/** Changes of an entry of the audit in one line; undefined when it has none. */
export function changesText(changes: AuditEntryOut['changes'], viewer: Viewer): Html | undefined {
  if (!changes) return undefined;
  return html`${Object.entries(changes).map(
    ([name, value], at) =>
      html`${at > 0 && ', '}${wordsOf(name)}: ${valueText(name, value, viewer)}`,
  )}`;
}

/** `expiresAt` as `expires at`. */
function wordsOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

const VALUE_CHARACTERS_MAX = 120;
const LABELS_SHOWN = 3;
const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function valueText(name: string, value: unknown, viewer: Viewer): HtmlValue {
  if (name === 'grants') return grantWords(value as Grant[], LABELS_SHOWN);
  if (typeof value === 'string')
    return INSTANT.test(value)
      ? time(Date.parse(value), viewer)
      : foreign(value, VALUE_CHARACTERS_MAX);
  return foreign(JSON.stringify(value), VALUE_CHARACTERS_MAX);
}

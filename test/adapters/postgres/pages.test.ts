/** A page costs the same however many rows there are: told by the blocks that the server looks at. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { searchPostgres } from '#catalog/reading/search.ts';
import type { PostgresDatabase } from '#adapters/postgres/database.ts';
import { migrate } from '#adapters/postgres/server.ts';
import { silentLog } from '#shared/log.ts';
import type { Statements } from '#shared/database.ts';
import { readDirectoryView } from '#leads/directory/directory-view.ts';
import { listReceipts, type ReceiptFilter } from '#partners/receipts/read-receipts.ts';
import { findKnown } from '#partners/intake/repeats.ts';
import { type AuditFilter, readEntries } from '#access/audit-log.ts';
import { type ListQuery, selectListed } from '#catalog/reading/read-catalog.ts';
import type { NewEvent } from '#partners/intake/accept-delivery.ts';
import { connectToPostgres, emptyPostgres } from '../../support/postgres/database.ts';

const ROWS = 20_000;
/** A table has more. */
const BLOCKS_MAX = 300;
/** For outcomes: those of the newest thousand receipts are looked at, each by an index. */
const OUTCOME_BLOCKS_MAX = 4000;

/** Rare and frequent values of every filter; what is frequent is spread evenly. */
const FILL = `
  INSERT INTO receipt (number, id, partner_id, path, event_type, correlation_id, status, received_at)
  SELECT i, 'r' || i, 'crm-' || i % 5, 'deletions', 'lead.deletion', 'c' || i,
    CASE i % 1000 WHEN 0 THEN 'FAILED' ELSE 'PROCESSED' END, i
  FROM generate_series(1, ${ROWS}) i;
  INSERT INTO event (id, receipt, position, event_id, external_id, outcome, lead_ids, completed_at, is_deletion)
  SELECT i, i, 0, 'e' || i, 'x' || i, CASE i % 1000 WHEN 0 THEN 'FAILED' ELSE 'DONE' END,
    jsonb_build_array(i::text), i, true
  FROM generate_series(1, ${ROWS}) i;
  INSERT INTO same_event (event, id_key, person_key, key, first_seen_at)
  SELECT i, decode(md5(i::text), 'hex'), '', decode(md5(i::text), 'hex'), i FROM generate_series(1, ${ROWS}) i;
  INSERT INTO audit (at, actor_kind, actor_subject, action, subject)
  SELECT i, 'token', 'actor-' || i % 100, (ARRAY['key.create', 'key.revoke', 'key.rotate'])[1 + i % 3], 'consumer/' || i % 500
  FROM generate_series(1, ${ROWS}) i;
  INSERT INTO catalog_artifact (workspace_id, id_folded, id, listed_serial, versions)
  SELECT 'default', 'a' || i, 'a' || i, i, 1 FROM generate_series(1, ${ROWS}) i;
  INSERT INTO catalog_version (artifact_serial, workspace_id, version, order_key, is_listed, revision,
    lifecycle, type, source, owner, title, project_id, group_path, created_at, updated_at, members, terms)
  SELECT i, 'default', '1.0.0', 'k', true, 1, 'PUBLISHED', 'API', 'GIT', 'team-' || i % 200, 'Title',
    'p' || i % 200, 'g' || i % 200, i, i,
    CASE i % 2 WHEN 0 THEN '["a1","a' || i % 200 || '"]' END, array_to_tsvector(ARRAY['title', 't' || i, 'w' || i % 20])
  FROM generate_series(1, ${ROWS}) i;
  INSERT INTO tracker_repository VALUES ('acme/leads', 1, 1);
  INSERT INTO directory_lead
  SELECT 1, i, i, i, true, '["approved"]', 1 FROM generate_series(1, ${ROWS}) i;
  INSERT INTO directory_key
  SELECT decode(md5(i::text), 'hex'), 1, i, 'email', 1 FROM generate_series(1, ${ROWS}) i;
  ANALYZE`;

type Node = {
  'Node Type': string;
  'Relation Name'?: string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Node[];
};

/** Tables of which all rows are read, but those of few rows. */
function wholeTables(node: Node): string[] {
  const own = node['Node Type'] === 'Seq Scan' ? [node['Relation Name'] ?? ''] : [];
  return [...own, ...(node.Plans ?? []).flatMap(wholeTables)].filter(
    (name) => name !== 'tracker_repository',
  );
}

/** The same session; adds up the blocks that its statements look at, and notes what they read as a whole. */
function measured(database: PostgresDatabase) {
  let blocks = 0;
  const whole: string[] = [];
  const session: Pick<Statements, 'all' | 'get'> = {
    all: async (sql, values) => {
      const [row] = await database.all<{ 'QUERY PLAN': string }>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`,
        values,
      );
      const [{ Plan: plan }] = JSON.parse(Object.values(row ?? {})[0] ?? '[]') as [{ Plan: Node }];
      whole.push(...wholeTables(plan));
      blocks += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
      return database.all(sql, values);
    },
    get: async (sql, values) => (await session.all<never>(sql, values))[0],
  };
  return { session: { ...database, ...session }, cost: () => ({ blocks, whole }) };
}

const since = ROWS - 5;
const receipts: Record<string, ReceiptFilter> = {
  everything: {},
  'a partner': { partnerId: 'crm-1' },
  'a partner that sent nothing': { partnerId: 'nobody' },
  'a status that is rare': { status: 'FAILED' },
  'a status that none has': { status: 'ACCEPTED' },
  'a time': { since },
  'a correlation id': { correlationId: 'c7' },
  'an outcome that is frequent': { outcome: 'DONE' },
  'an outcome that is rare': { outcome: 'FAILED' },
  'an outcome that is rare, of a partner that has none': { outcome: 'FAILED', partnerId: 'crm-1' },
  'an event id': { eventId: 'e7' },
  'an external id': { externalId: 'x7' },
  'a lead': { leadId: 7 },
  'a lead that nobody named': { leadId: 1e9 },
};
const audits: Record<string, AuditFilter> = {
  everything: {},
  'an actor': { actor: 'actor-7' },
  'an actor that did nothing': { actor: 'nobody' },
  'an action': { action: 'key.revoke' },
  'a subject': { subject: 'consumer/7' },
  'an actor and an action that it never did': { actor: 'actor-7', action: 'claim.release' },
  'a time': { since },
  'an earlier time': { before: 5 },
};
const catalogs: Record<string, Partial<ListQuery>> = {
  everything: {},
  'every version': { rows: 'versions' },
  'a type that none has': { type: 'GROUP' },
  'a state that none has': { lifecycle: 'RETIRED' },
  'a source that none has': { source: 'URL', rows: 'versions' },
  'an owner': { owner: 'team-7' },
  'an owner of nothing': { owner: 'nobody' },
  'a project': { projectId: 'p7' },
  'a group': { groupPath: 'g7' },
  'a group of nothing': { groupPath: 'none' },
  'a word that all have': { terms: ['title'] },
  'two words that many have': { terms: ['title', 'w7'] },
  'a word that one has': { terms: ['t777'] },
  'a word that none has': { terms: ['nothing'] },
};

test('a page of a list and a look-up cost the same however many rows there are', async () => {
  // A database that is dropped: to empty it for the next test takes three times as long as this one.
  const { url } = await emptyPostgres();
  const asItIs = await connectToPostgres({ url });
  await migrate({ database: asItIs, log: silentLog });
  // So few rows are read as a whole even where an index leads to them.
  const database = await connectToPostgres({ url: `${url}?options=-c%20enable_seqscan%3Doff` });
  await database.exec(FILL);
  const dear: unknown[] = [];
  const measure = async (
    what: string,
    work: (session: PostgresDatabase) => Promise<unknown>,
    on = database,
  ) => {
    const { session, cost } = measured(on);
    await work(session);
    const { blocks, whole } = cost();
    const blocksMax = what.includes('an outcome') ? OUTCOME_BLOCKS_MAX : BLOCKS_MAX;
    if (blocks > blocksMax || whole.length > 0) dear.push({ what, blocks, whole });
  };
  for (const [what, filter] of Object.entries(receipts))
    await measure(`receipts of ${what}`, (session) => listReceipts(session, { filter, limit: 20 }));
  for (const [what, filter] of Object.entries(audits))
    await measure(`audit of ${what}`, (session) => readEntries(session, { filter, limit: 20 }));
  for (const [what, query] of Object.entries(catalogs))
    await measure(`catalog of ${what}`, (session) =>
      selectListed(session, searchPostgres, {
        workspaceId: 'default',
        rows: 'artifacts',
        limit: 20,
        ...query,
      }),
    );
  const hash = createHash('md5').update('7').digest();
  await measure('directory look-up', async (session) => {
    const view = await readDirectoryView(session, 'acme/leads', [{ kind: 'email', hash }]);
    expect(view.find(hash)).toEqual([7]);
  });
  const event: NewEvent = {
    position: 0,
    sameEventKey: Buffer.from('new'),
    outcome: 'PENDING',
    names: [],
    payload: Buffer.alloc(0),
    digest: Buffer.alloc(32),
  };
  await measure('events that are new', (session) => findKnown(session, [event]), asItIs);
  expect(dear).toEqual([]);
}, 60_000);

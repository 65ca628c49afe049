import { beforeEach, describe, expect, test } from 'vitest';
import type { VersionRecord } from '#catalog/version/artifact.ts';
import type {
  ArtifactStore,
  ChangeAudit,
  Inserted,
  ListQuery,
  NewVersion,
  StoredVersion,
} from '#catalog/artifact-store.ts';
import { versionResponse } from '#catalog/version/version-response.ts';
import { viewOf } from '#catalog/version/version-view.ts';
import type { IdempotencyStore, KeyedCall } from '#shared/idempotency.ts';
import { searchTerms } from '#catalog/reading/search-terms.ts';

type Open = () => Promise<{ store: ArtifactStore; keys: IdempotencyStore }>;

const W = 'default';
export const audit: ChangeAudit = {
  at: 1,
  actor: { kind: 'token', subject: 'owner', clientId: 'tool' },
  action: 'artifact.create',
  changes: { title: 'x' },
  requestId: 'r-1',
};

/** One body for every engine: what `ArtifactStore` promises. */
export function describeArtifactStore(engine: string, open: Open): void {
  describe(`artifact store on ${engine}`, () => {
    let store: ArtifactStore;
    let keys: IdempotencyStore;

    beforeEach(async () => {
      ({ store, keys } = await open());
    });

    const insert = (facts: Partial<NewVersion> = {}, workspace = W): Promise<Inserted> =>
      store.insert(workspace, newVersion(facts), { audit });
    const make = async (
      facts: Partial<NewVersion> & { lifecycle?: VersionRecord['lifecycle'] } = {},
      workspace = W,
    ): Promise<VersionRecord> => {
      const { lifecycle = 'PUBLISHED', ...rest } = facts;
      const inserted = await insert(rest, workspace);
      if (inserted.kind !== 'inserted') throw new Error(`not inserted: ${inserted.kind}`);
      const { record } = inserted.stored;
      return lifecycle === 'DRAFT' ? record : move(record, { lifecycle });
    };
    const move = async (
      record: VersionRecord,
      facts: Partial<VersionRecord>,
    ): Promise<VersionRecord> => {
      const next = { ...record, ...facts, revision: record.revision + 1 };
      const change = { former: record, next };
      expect(await store.change(record.workspaceId, change, { audit })).toBeDefined();
      return next;
    };
    const list = async (query: Partial<ListQuery> = {}, workspace = W): Promise<string[]> => {
      const rows = await store.list(workspace, { rows: 'artifacts', limit: 100, ...query });
      return rows.map(({ record }) => `${record.id}@${record.version}`);
    };
    const search = (q: string, query: Partial<ListQuery> = {}): Promise<string[]> =>
      list({ terms: searchTerms(q), ...query });
    const defaultOf = async (id: string): Promise<string | undefined> => {
      const found = await store.read(W, { id }, { withSpec: false });
      return found.kind === 'found' ? found.record.version : undefined;
    };

    test('gives a version back as it was put, with and without every optional field', async () => {
      const full = await make({
        id: 'Full',
        description: 'Größe "L"\n',
        projectId: 'p-1',
        groupPath: 'a/b',
        members: ['One', 'two'],
        counts: { endpoints: 9007199254740991, constructor: 0 },
        findings: [{ pointer: '#/spec/info', code: 'required', detail: 'must be there' }],
        specText: '{"n":12345678901234567890,"none":null}',
        lifecycle: 'DRAFT',
      });
      const bare = await make({ id: 'bare', lifecycle: 'DRAFT' });
      expect(await store.read(W, { id: 'fULL', version: '1.0.0' }, { withSpec: true })).toEqual({
        kind: 'found',
        record: full,
        specText: '{"n":12345678901234567890,"none":null}',
      });
      expect(full).toMatchObject({ id: 'Full', lifecycle: 'DRAFT', revision: 1 });
      const read = await store.read(W, { id: 'bare', version: '1.0.0' }, { withSpec: true });
      expect(read).toEqual({ kind: 'found', record: bare });
    });

    test('reads the spec only when it is asked for', async () => {
      await make({ specText: '{}' });
      expect(await store.read(W, { id: 'petstore' }, { withSpec: false })).toMatchObject({
        specText: undefined,
      });
    });

    test('tells an unknown artifact, an unknown version and no default version apart', async () => {
      const draft = await make({ lifecycle: 'DRAFT' });
      expect(await store.read(W, { id: 'other' }, { withSpec: false })).toEqual({
        kind: 'no-artifact',
      });
      expect(await store.read(W, { id: 'petstore', version: '9' }, { withSpec: false })).toEqual({
        kind: 'no-version',
      });
      expect(await store.read(W, { id: 'petstore' }, { withSpec: false })).toEqual({
        kind: 'no-default',
        listed: draft,
      });
    });

    test('ids are one whatever their case, and keep the first spelling', async () => {
      await make({ id: 'PetStore', version: '1.0.0' });
      const second = await make({ id: 'petstore', version: '2.0.0' });
      expect(second.id).toBe('PetStore');
      expect(await insert({ id: 'PETSTORE', version: '2.0.0' })).toEqual({
        kind: 'taken',
        version: '2.0.0',
        current: 'PUBLISHED',
      });
      expect(await list()).toEqual(['PetStore@2.0.0']);
    });

    test('versions are told apart byte by byte', async () => {
      await make({ version: 'v1' });
      expect((await insert({ version: 'V1' })).kind).toBe('inserted');
      expect((await insert({ version: '1' })).kind).toBe('inserted');
    });

    test('a version that nobody names is 1.0.0, then the next minor of the highest', async () => {
      const names = [];
      for (const version of [undefined, undefined, '2.5.1', undefined, '3.0.0-rc.1', undefined]) {
        const made = await insert(version === undefined ? {} : { version });
        names.push(made.kind === 'inserted' ? made.stored.record.version : made.kind);
      }
      expect(names).toEqual(['1.0.0', '1.1.0', '2.5.1', '2.6.0', '3.0.0-rc.1', '3.1.0']);
    });

    test('a version must be named where the next minor would be too long', async () => {
      await insert({ version: '9'.repeat(64) });
      expect(await insert()).toEqual({ kind: 'nameless' });
    });

    test('of many equal creates at once one is made', async () => {
      const all = await Promise.all(Array.from({ length: 20 }, () => insert({ version: '1.0.0' })));
      expect(all.filter(({ kind }) => kind === 'inserted')).toHaveLength(1);
      expect(all.filter(({ kind }) => kind === 'taken')).toHaveLength(19);
    });

    test('of creates of several types at once only those of one type are made', async () => {
      const types = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? 'API' : 'EVENT'));
      const all = await Promise.all(types.map((type) => insert({ type })));
      const made = all.flatMap((one) => (one.kind === 'inserted' ? [one.stored.record.type] : []));
      const [type = ''] = made;
      expect(made).toEqual(Array(10).fill(type));
      const refused = all.filter(({ kind }) => kind !== 'inserted');
      expect(refused).toEqual(Array.from(refused, () => ({ kind: 'other-type', type })));
      expect(refused).toHaveLength(10);
      expect((await store.listVersions(W, { id: 'petstore', limit: 99 }))?.length).toBe(10);
    });

    test('a version takes another type only while it is alone', async () => {
      const first = await make({ lifecycle: 'DRAFT' });
      const other = await make({ id: 'other', type: 'SCHEMA' });
      expect(other.type).toBe('SCHEMA');
      const alone = await move(first, { type: 'EVENT' });
      const second = await make({ version: '2.0.0', type: 'EVENT', lifecycle: 'DRAFT' });
      for (const former of [alone, second]) {
        const next = { ...former, type: 'API', title: 'New', revision: former.revision + 1 };
        const refused = await store.change(W, { former, next, specText: '{}' }, { audit });
        expect(refused).toEqual({ kind: 'other-type', type: 'EVENT' });
        const { version } = former;
        const found = await store.read(W, { id: 'petstore', version }, { withSpec: true });
        expect(found).toEqual({ kind: 'found', record: former });
      }
      expect(await store.listAudit(W, { id: 'petstore', limit: 9 })).toHaveLength(3);
      expect(await store.remove(W, alone, audit)).toBe(true);
      await move(second, { type: 'API' });
    });

    test('a version is published only as it was held against others, with what was found', async () => {
      const draft = await make({ version: '1.2.0', lifecycle: 'DRAFT' });
      const findings = [{ pointer: '#/spec', code: 'breaking-change', detail: 'Breaks.' }];
      const next = { ...draft, lifecycle: 'PUBLISHED' as const, findings, revision: 2 };
      const publish = (serial: number | undefined) =>
        store.change(W, { former: draft, next, baseline: { serial } }, { audit });
      const read = async () =>
        store.read(W, { id: 'petstore', version: '1.2.0' }, { withSpec: false });
      const { serial } = await make({ version: '1.1.0' });
      const { serial: foreign } = await make({ version: '2.0.0' });
      for (const other of [undefined, foreign, draft.serial])
        expect(await publish(other)).toBeUndefined();
      expect(await read()).toEqual({ kind: 'found', record: draft });
      expect(await publish(serial)).toMatchObject({ record: next });
      expect(await read()).toEqual({ kind: 'found', record: next });
    });

    test('of two changes of the same revision one is done', async () => {
      const record = await make({ lifecycle: 'DRAFT' });
      const next = { ...record, title: 'New', revision: 2 };
      const newer = { ...next, title: 'Newer' };
      const [one, other, isRemoved] = await Promise.all([
        store.change(W, { former: record, next }, { audit }),
        store.change(W, { former: record, next: newer }, { audit }),
        store.remove(W, record, audit),
      ]);
      const done = [...[one, other].filter((stored) => stored), ...(isRemoved ? [true] : [])];
      expect(done).toHaveLength(1);
      expect(await store.setDefault(W, record, { audit })).toBeUndefined();
      const found = await store.read(W, { id: 'petstore', version: '1.0.0' }, { withSpec: true });
      if (isRemoved) return expect(found).toEqual({ kind: 'no-artifact' });
      expect(found).toEqual({ kind: 'found', record: one ? next : newer });
      return expect(await store.listAudit(W, { id: 'petstore', limit: 10 })).toHaveLength(2);
    });

    test('a change that lost leaves the spec alone', async () => {
      const record = await make({ lifecycle: 'DRAFT', specText: '{"a":1}' });
      const former = { ...record, revision: 6 };
      const change = { former, next: { ...record, revision: 7 }, specText: '{}' };
      expect(await store.change(W, change, { audit })).toBeUndefined();
      expect(await store.remove(W, former, audit)).toBe(false);
      const read = await store.read(W, { id: 'petstore', version: '1.0.0' }, { withSpec: true });
      expect(read).toMatchObject({ specText: '{"a":1}' });
    });

    test('a spec is replaced, left alone, or taken away', async () => {
      const specNow = async (): Promise<unknown> =>
        store.read(W, { id: 'petstore', version: '1.0.0' }, { withSpec: true });
      let record = await make({ lifecycle: 'DRAFT', specText: '{"a":1}' });
      const change = async (specText?: string | null): Promise<void> => {
        const next = { ...record, revision: record.revision + 1 };
        const step = { former: record, next, ...(specText !== undefined && { specText }) };
        const stored = await store.change(W, step, { audit });
        const now = specText === undefined ? '{"a":2}' : (specText ?? undefined);
        expect(stored && 'specText' in stored ? stored.specText : undefined).toBe(now);
        record = next;
      };
      await change('{"a":2}');
      expect(await specNow()).toMatchObject({ specText: '{"a":2}' });
      await change();
      expect(await specNow()).toMatchObject({ specText: '{"a":2}' });
      await change(null);
      expect(await specNow()).toMatchObject({ specText: undefined });
    });

    test('with its last version an artifact is gone, and a new one is another', async () => {
      const first = await make({ lifecycle: 'DRAFT', specText: '{}' });
      expect(await store.remove(W, first, audit)).toBe(true);
      expect(await store.read(W, { id: 'petstore' }, { withSpec: false })).toEqual({
        kind: 'no-artifact',
      });
      expect(await list()).toEqual([]);
      expect(await search('petstore')).toEqual([]);
      expect(await store.candidates(W, 'petstore')).toBeUndefined();
      expect(await store.listAudit(W, { id: 'petstore', limit: 10 })).toBeUndefined();
      const again = await make({ lifecycle: 'DRAFT' });
      expect(again.serial).not.toBe(first.serial);
    });

    test('the default is the highest published, releases first, else the highest deprecated', async () => {
      const old = await make({ version: '1.0.0' });
      expect(await defaultOf('petstore')).toBe('1.0.0');
      const candidate = await make({ version: '10.0.0-rc.1' });
      expect(await defaultOf('petstore')).toBe('1.0.0');
      await make({ version: '11.0.0', lifecycle: 'DRAFT' });
      expect(await defaultOf('petstore')).toBe('1.0.0');
      const dep = await move(old, { lifecycle: 'DEPRECATED' });
      expect(await defaultOf('petstore')).toBe('10.0.0-rc.1');
      await move(candidate, { lifecycle: 'DEPRECATED' });
      expect(await defaultOf('petstore')).toBe('1.0.0');
      await move(dep, { lifecycle: 'RETIRED' });
      expect(await defaultOf('petstore')).toBe('10.0.0-rc.1');
    });

    test('a set default stays until it is retired', async () => {
      const one = await make({ version: '1.0.0' });
      await make({ version: '2.0.0' });
      expect(await store.setDefault(W, one, { audit })).toMatchObject({ record: one });
      expect(await defaultOf('petstore')).toBe('1.0.0');
      const deprecated = await move(one, { lifecycle: 'DEPRECATED' });
      expect(await defaultOf('petstore')).toBe('1.0.0');
      await move(deprecated, { lifecycle: 'RETIRED' });
      expect(await defaultOf('petstore')).toBe('2.0.0');
    });

    test('a default is unset only while it is set, and then computed again', async () => {
      const one = await make({ version: '1.0.0' });
      const two = await make({ version: '2.0.0' });
      const isSet = async (record: VersionRecord): Promise<boolean> =>
        (await store.relations(W, record)).isSetDefault;
      expect(await store.clearDefault(W, two, audit)).toBe(false);
      await store.setDefault(W, one, { audit });
      expect(await Promise.all([one, two].map(isSet))).toEqual([true, false]);
      expect(await store.clearDefault(W, two, audit)).toBe(false);
      expect(await defaultOf('petstore')).toBe('1.0.0');
      expect(await search('petstore')).toEqual(['petstore@1.0.0']);
      const entry = { ...audit, action: 'artifact.unset-default' as const };
      expect(await store.clearDefault(W, one, entry)).toBe(true);
      expect(await defaultOf('petstore')).toBe('2.0.0');
      expect(await search('petstore')).toEqual(['petstore@2.0.0']);
      expect(await Promise.all([one, two].map(isSet))).toEqual([false, false]);
      expect(await store.clearDefault(W, one, entry)).toBe(false);
      await make({ version: '3.0.0' });
      expect(await defaultOf('petstore')).toBe('3.0.0');
      const log = (await store.listAudit(W, { id: 'petstore', limit: 100 })) ?? [];
      const unset = log.filter(({ entry: { action } }) => action === entry.action);
      expect(unset.map(({ entry: { changes } }) => changes?.['version'])).toEqual(['1.0.0']);
    });

    test('another workspace has nothing of it', async () => {
      const record = await make({ groupPath: 'a', type: 'GROUP' });
      await make({ id: 'child', groupPath: 'a' });
      const other = 'other';
      const ref = { id: 'petstore', version: '1.0.0' };
      expect(await store.read(other, ref, { withSpec: true })).toEqual({ kind: 'no-artifact' });
      expect(await store.candidates(other, 'petstore')).toBeUndefined();
      expect(await list({}, other)).toEqual([]);
      expect(await list({ rows: 'versions' }, other)).toEqual([]);
      expect(await list({ terms: ['petstore'] }, other)).toEqual([]);
      expect(await list({ terms: ['petstore'], rows: 'versions' }, other)).toEqual([]);
      expect(await store.listVersions(other, { id: 'petstore', limit: 5 })).toBeUndefined();
      expect(await store.listAudit(other, { id: 'petstore', limit: 5 })).toBeUndefined();
      const next = { ...record, revision: record.revision + 1 };
      expect(await store.change(other, { former: record, next }, { audit })).toBeUndefined();
      expect(await store.remove(other, record, audit)).toBe(false);
      expect(await store.setDefault(other, record, { audit })).toBeUndefined();
      await store.setDefault(W, record, { audit });
      expect(await store.clearDefault(other, record, audit)).toBe(false);
      const group = await make({ id: 'petstore', type: 'GROUP', groupPath: 'a' }, other);
      const listed = await make({ id: 'lister', members: ['child', 'petstore'] }, other);
      expect(await store.relations(other, group)).toEqual({
        versions: 1,
        members: [],
        membersByType: {},
        isSetDefault: false,
      });
      const { members } = await store.relations(other, listed);
      expect(members?.map(({ id }) => id)).toEqual(['petstore']);
    });

    test('lists one row per artifact, newest first, and every version on demand', async () => {
      await make({ id: 'a', version: '1.0.0' });
      await make({ id: 'b', version: '1.0.0', lifecycle: 'DRAFT' });
      await make({ id: 'a', version: '2.0.0' });
      await make({ id: 'a', version: '3.0.0', lifecycle: 'DRAFT' });
      await make({ id: 'c', version: '1.0.0', lifecycle: 'RETIRED' });
      expect(await list()).toEqual(['c@1.0.0', 'b@1.0.0', 'a@2.0.0']);
      expect(await list({ rows: 'versions' })).toEqual([
        'c@1.0.0',
        'a@3.0.0',
        'a@2.0.0',
        'b@1.0.0',
        'a@1.0.0',
      ]);
      expect(await list({ lifecycle: 'DRAFT' })).toEqual(['b@1.0.0']);
      expect(await list({ lifecycle: 'DRAFT', rows: 'versions' })).toEqual(['a@3.0.0', 'b@1.0.0']);
    });

    test('walks both lists by position', async () => {
      for (const id of ['a', 'b', 'c', 'd', 'e']) await make({ id });
      for (const rows of ['artifacts', 'versions'] as const) {
        for (const terms of [undefined, ['store']]) {
          const seen: string[] = [];
          let after: number | undefined;
          for (;;) {
            const page = await store.list(W, {
              rows,
              limit: 2,
              ...(after !== undefined && { after }),
              ...(terms && { terms }),
            });
            seen.push(...page.map(({ record }) => record.id));
            after = page.at(-1)?.position;
            if (page.length < 2) break;
          }
          expect(seen).toEqual(['e', 'd', 'c', 'b', 'a']);
        }
      }
    });

    test('an artifact keeps its place in the list when its default moves', async () => {
      await make({ id: 'a', version: '1.0.0' });
      await make({ id: 'b', version: '1.0.0' });
      await make({ id: 'a', version: '2.0.0' });
      expect(await list()).toEqual(['b@1.0.0', 'a@2.0.0']);
    });

    test('filters by each field and by all together', async () => {
      await make({ id: 'x', type: 'EVENT', owner: 'team-b', source: 'GIT', projectId: 'p' });
      await make({ id: 'y', groupPath: 'a/b' });
      for (const rows of ['artifacts', 'versions'] as const) {
        expect(await list({ rows, type: 'EVENT' })).toEqual(['x@1.0.0']);
        expect(await list({ rows, owner: 'team-b' })).toEqual(['x@1.0.0']);
        expect(await list({ rows, source: 'GIT' })).toEqual(['x@1.0.0']);
        expect(await list({ rows, projectId: 'p' })).toEqual(['x@1.0.0']);
        expect(await list({ rows, projectId: 'P' })).toEqual([]);
        expect(await list({ rows, groupPath: 'a' })).toEqual(['y@1.0.0']);
        expect(
          await list({
            rows,
            type: 'EVENT',
            owner: 'team-b',
            source: 'GIT',
            projectId: 'p',
            lifecycle: 'PUBLISHED',
            terms: ['x'],
          }),
        ).toEqual(['x@1.0.0']);
        expect(await list({ rows, type: 'EVENT', groupPath: 'a' })).toEqual([]);
      }
    });

    test('a group path holds itself and what is below it, on segment boundaries', async () => {
      for (const [index, groupPath] of ['a', 'a/b', 'a/bc', 'a/b/c', 'a/b-c', 'a/b.c'].entries())
        await make({ id: `m${index}`, groupPath });
      await make({ id: 'percent', groupPath: 'a%b' });
      expect(await list({ groupPath: 'a/b' })).toEqual(['m3@1.0.0', 'm1@1.0.0']);
      expect(await list({ groupPath: 'a/b/c' })).toEqual(['m3@1.0.0']);
      expect(await list({ groupPath: 'a%' })).toEqual([]);
      expect(await list({ groupPath: 'A' })).toEqual([]);
    });

    test('finds by id, title, description, owner and group path', async () => {
      await make({
        id: 'orders.api-v2',
        title: 'Bestell-Schnittstelle für Größen',
        description: 'Lets shops place ORDERS, see RFC/9457.',
        owner: 'team@Zürich.example',
        groupPath: 'handel/kasse',
      });
      for (const q of [
        'orders',
        'orders.api-v2',
        'API V2',
        'Bestell',
        'größen',
        'GRÖSSEN',
        'schnittstelle bestell',
        '9457',
        'rfc/9457',
        'zurich',
        'team@zürich',
        'handel/kasse',
        'kass',
      ]) {
        expect({ q, rows: await search(q) }).toEqual({ q, rows: ['orders.api-v2@1.0.0'] });
        const versions = await search(q, { rows: 'versions' });
        expect({ q, versions }).toEqual({ q, versions: ['orders.api-v2@1.0.0'] });
      }
      for (const q of ['invoice', 'orders invoice', 'rders'])
        expect({ q, rows: await search(q) }).toEqual({ q, rows: [] });
    });

    test('search sees a change at once, and one row per artifact by its default version', async () => {
      const one = await make({ id: 'a', version: '1.0.0', title: 'Alpha' });
      await make({ id: 'a', version: '2.0.0', title: 'Beta' });
      expect(await search('alpha')).toEqual([]);
      expect(await search('beta')).toEqual(['a@2.0.0']);
      expect(await search('alpha', { rows: 'versions' })).toEqual(['a@1.0.0']);
      await move(one, { title: 'Gamma' });
      expect(await search('alpha', { rows: 'versions' })).toEqual([]);
      expect(await search('gamma', { rows: 'versions' })).toEqual(['a@1.0.0']);
    });

    test('lists the versions of an artifact in their order, page by page', async () => {
      const names = ['1.0.0-rc.1', '1.0.0', '10.0.0', '2.0.0', 'zeta', 'v3', '1.0.0-rc.10'];
      for (const version of names) await make({ version, lifecycle: 'DRAFT' });
      const all = await store.listVersions(W, { id: 'PETSTORE', limit: 100 });
      expect(all?.map(({ version }) => version)).toEqual([
        '10.0.0',
        'v3',
        '2.0.0',
        '1.0.0',
        '1.0.0-rc.10',
        '1.0.0-rc.1',
        'zeta',
      ]);
    });

    test('equal versions are told apart by publishing, then by creation', async () => {
      await make({ version: '1.0', createdAt: 5, lifecycle: 'DRAFT' });
      const second = await make({ version: '1.0.0', createdAt: 4, lifecycle: 'DRAFT' });
      await make({ version: 'v1', createdAt: 6, lifecycle: 'DRAFT' });
      await move(second, { publishedAt: 10, lifecycle: 'PUBLISHED' });
      const all = await store.listVersions(W, { id: 'petstore', limit: 100 });
      expect(all?.map(({ version }) => version)).toEqual(['1.0.0', 'v1', '1.0']);
    });

    test('keeps who did what to an artifact, newest first', async () => {
      const record = await make({ lifecycle: 'DRAFT' });
      await store.change(
        W,
        { former: record, next: { ...record, revision: 2 } },
        { audit: { ...audit, at: 2, action: 'artifact.edit' } },
      );
      const entries = await store.listAudit(W, { id: 'PetStore', limit: 10 });
      expect(entries?.map(({ entry }) => entry.action)).toEqual([
        'artifact.edit',
        'artifact.create',
      ]);
      expect(entries?.[1]?.entry).toMatchObject({
        ...audit,
        changes: { version: '1.0.0', title: 'x' },
      });
      const rest = await store.listAudit(W, {
        id: 'petstore',
        after: entries?.[0]?.position ?? 0,
        limit: 10,
      });
      expect(rest?.map(({ entry }) => entry.action)).toEqual(['artifact.create']);
    });

    test("members are the owner's list, in its order, by default version", async () => {
      await make({ id: 'one', version: '1.0.0', title: 'Old', type: 'EVENT' });
      await make({ id: 'one', version: '2.0.0', title: 'New', type: 'EVENT', groupPath: 'g' });
      await make({ id: 'two', lifecycle: 'DEPRECATED' });
      await make({ id: 'draft', lifecycle: 'DRAFT' });
      const group = await make({ id: 'g', members: ['two', 'ONE', 'draft', 'missing', 'G'] });
      expect(await store.relations(W, group)).toEqual({
        versions: 1,
        isSetDefault: false,
        members: [
          { id: 'two', type: 'API', title: 'Pet store', lifecycle: 'DEPRECATED' },
          { id: 'one', type: 'EVENT', title: 'New', lifecycle: 'PUBLISHED', groupPath: 'g' },
        ],
        membersByType: { API: 1, EVENT: 1 },
      });
    });

    test('a GROUP without a list has what lies under its path, but not itself', async () => {
      const group = await make({ id: 'shop', type: 'GROUP', groupPath: 'shop' });
      await make({ id: 'b', groupPath: 'shop/pay' });
      await make({ id: 'A', groupPath: 'shop' });
      await make({ id: 'c', groupPath: 'shopping' });
      await make({ id: 'd', groupPath: 'shop', lifecycle: 'DRAFT' });
      await make({ id: 'e', groupPath: 'shop', type: 'EVENT', lifecycle: 'DEPRECATED' });
      const relations = await store.relations(W, group);
      expect(relations.members?.map(({ id }) => id)).toEqual(['A', 'b', 'e']);
      expect(relations.membersByType).toEqual({ API: 2, EVENT: 1 });
      const empty = await make({ id: 'none', type: 'GROUP', groupPath: 'shop', members: [] });
      expect((await store.relations(W, empty)).members).toEqual([]);
      const api = await make({ id: 'api', groupPath: 'shop' });
      expect(await store.relations(W, api)).toEqual({
        versions: 1,
        membersByType: {},
        isSetDefault: false,
      });
      const pathless = await make({ id: 'pathless', type: 'GROUP' });
      expect((await store.relations(W, pathless)).members).toEqual([]);
    });

    test('what is done under a key has its response stored with it, rendered as it is then', async () => {
      const [first, second, third] = [keyedCall(1), keyedCall(2), keyedCall(3)];
      const made = await store.insert(W, newVersion({ specText: '{"a":1}' }), {
        audit,
        call: first,
      });
      if (made.kind !== 'inserted') throw new Error(made.kind);
      const { record } = made.stored;
      const next = { ...record, lifecycle: 'PUBLISHED' as const, revision: 2, publishedAt: 2 };
      const published = await store.change(W, { former: record, next }, { audit, call: second });
      expect(await store.respond(W, next, third)).toEqual(published);
      const responses = await Promise.all([first, second, third].map((call) => keys.find(call)));
      expect(responses).toMatchObject([
        { kind: 'stored', response: versionResponse(viewOf(made.stored), { isCreated: true }) },
        {
          kind: 'stored',
          response: { status: 200, body: expect.stringMatching(/"PUBLISHED".*"spec":\{"a":1\}/) },
        },
        { kind: 'stored', response: versionResponse(viewOf(published as StoredVersion)) },
      ]);
      expect(await store.respond(W, record, keyedCall(4))).toBeUndefined();
      expect(await keys.find(keyedCall(4))).toEqual({ kind: 'nothing' });
    });

    test('a key that was taken meanwhile undoes the change', async () => {
      const call = keyedCall(1);
      await store.insert(W, newVersion({ id: 'first' }), { audit, call });
      const second = store.insert(W, newVersion({ id: 'second' }), { audit, call });
      await expect(second).rejects.toMatchObject({ code: 'idempotency-in-progress' });
      expect(await list()).toEqual(['first@1.0.0']);
    });

    test('a version that was superseded names the published default', async () => {
      const one = await make({ version: '1.0.0', lifecycle: 'DEPRECATED' });
      expect(await store.relations(W, one)).not.toHaveProperty('successor');
      const two = await make({ version: '2.0.0' });
      expect(await store.relations(W, one)).toMatchObject({ versions: 2, successor: '2.0.0' });
      expect(await store.relations(W, two)).not.toHaveProperty('successor');
    });
  });
}

function keyedCall(number: number): KeyedCall {
  const [digest, fingerprint] = [Buffer.from([number]), Buffer.from('same')];
  return { workspaceId: W, digest, fingerprint, now: 1 };
}

export function newVersion(facts: Partial<NewVersion>): NewVersion {
  return {
    id: 'petstore',
    type: 'API',
    owner: 'team-a',
    title: 'Pet store',
    source: 'INLINE',
    findings: [],
    createdAt: 1,
    updatedAt: 1,
    ...facts,
  };
}

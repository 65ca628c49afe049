import {
  listAudit,
  listVersions,
  countFindings,
  type ListQuery,
  selectListed,
  selectVersions,
} from '#catalog/reading/read-catalog.ts';
import {
  deprecateVersion,
  retireVersion,
  setDefault,
  unsetDefault,
} from '#catalog/lifecycle/change-lifecycle.ts';
import { publishVersion } from '#catalog/lifecycle/publish.ts';
import {
  createVersion,
  deleteVersion,
  patchVersion,
  replaceVersion,
} from '#catalog/version/write-version.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { createReadRecord } from '#catalog/usage.ts';
import { systemClock } from '#shared/clock.ts';
import { silentLog } from '#shared/log.ts';
import type { SearchVersions } from '#catalog/reading/search.ts';
import { searchTerms } from '#catalog/reading/search-terms.ts';
import {
  type Finding,
  foldId,
  type Lifecycle,
  type VersionRecord,
  type VersionView,
} from '#catalog/version/artifact.ts';
import type { Draft } from '#catalog/version/content-check.ts';
import { entityTagOf } from '#catalog/version/entity-tag.ts';
import { type Caller, type Catalog, createCatalog } from '#catalog/index.ts';
import { findArtifact, readVersion } from '#catalog/version/read-version.ts';
import { storeUnderKey, versionResponse } from '#http/routes/catalog/version.ts';
import { readRelations } from '#catalog/version/version-view.ts';
import { listAuditOf } from '#shared/audit.ts';
import type { Database } from '#shared/database.ts';
import { findCall, type KeyedCall } from '#shared/idempotency.ts';
import { createCursorSealer } from '#shared/pagination/page.ts';
import { catalogRules } from '../support/catalog.ts';
import { specThreads } from '../support/threads.ts';
import { keyOf } from '../support/keys.ts';

type Open = () => Promise<{ db: Database; search: SearchVersions }>;

const W = 'default';
export const owner: Caller = {
  workspaceId: W,
  actor: { kind: 'token', subject: 'owner', clientId: 'tool' },
  requestId: 'r-1',
};
const any = { kind: 'any' } as const;
const never = (): Promise<never> => new Promise(() => undefined);
const nameOf = ({ id, version }: VersionRecord) => ({ id, version });

const useCases = { publish: publishVersion, deprecate: deprecateVersion, retire: retireVersion };

const steps: Record<Lifecycle, readonly (keyof typeof useCases)[]> = {
  DRAFT: [],
  PUBLISHED: ['publish'],
  DEPRECATED: ['publish', 'deprecate'],
  RETIRED: ['publish', 'deprecate', 'retire'],
};

/** One body for every engine: what the catalog promises, down to its rows. */
export function describeCatalog(engine: string, open: Open): void {
  describe(`catalog on ${engine}`, () => {
    let db: Database;
    let catalog: Catalog;
    let engineSearch: SearchVersions;
    /** The time, which versions are made at. */
    let now = 1;
    let findings: Finding[] = [];
    /** Runs once, while specs are compared. */
    let meanwhile = async (): Promise<unknown> => undefined;

    beforeEach(async () => {
      ({ db, search: engineSearch } = await open());
      [now, findings, meanwhile] = [1, [], async () => undefined];
      catalog = createCatalog({
        db,
        search: engineSearch,
        clock: { now: () => now },
        usage: createReadRecord({
          db,
          clock: { ...systemClock, now: () => now, sleep: never },
          log: silentLog,
        }),
        cursors: createCursorSealer(keyOf(1)),
        ...specThreads,
        checkSpec: async () => findings,
        diffSpecs: async (specs) => {
          await meanwhile();
          return specThreads.diffSpecs(specs);
        },
        rules: () => ({ ...catalogRules, findings: 'warn' }),
      });
    });

    const insert = (facts: Partial<Draft> = {}, workspaceId = W): Promise<VersionView> =>
      createVersion(catalog, { ...owner, workspaceId }, newDraft(facts));
    const make = async (
      facts: Partial<Draft> & { lifecycle?: Lifecycle } = {},
      workspaceId = W,
    ): Promise<VersionRecord> => {
      const { lifecycle = 'PUBLISHED', ...rest } = facts;
      return move((await insert(rest, workspaceId)).record, lifecycle);
    };
    const move = async (from: VersionRecord, lifecycle: Lifecycle): Promise<VersionRecord> => {
      let record = from;
      const caller = { ...owner, workspaceId: record.workspaceId };
      for (const step of steps[lifecycle].slice(steps[record.lifecycle].length))
        ({ record } = await useCases[step](catalog, caller, nameOf(record)));
      return record;
    };
    const list = async (query: Partial<ListQuery> = {}, workspaceId = W): Promise<string[]> => {
      const wanted: ListQuery = { workspaceId, rows: 'artifacts', limit: 100, ...query };
      const rows = await selectListed(db, engineSearch, wanted);
      return rows.map(({ item }) => `${item.id}@${item.version}`);
    };
    const search = (q: string, query: Partial<ListQuery> = {}): Promise<string[]> =>
      list({ terms: searchTerms(q), ...query });
    const read = (version?: string, id = 'petstore') =>
      readVersion(db, W, { id, version, withSpec: true });
    const auditOf = (id: string) => listAuditOf(db, `artifact/${W}/${foldId(id)}`, { limit: 100 });
    const defaultOf = async (id: string): Promise<string | undefined> => {
      const found = await read(undefined, id);
      return found.kind === 'found' ? found.record.version : undefined;
    };

    test('gives a version back as it was put, with and without every optional field', async () => {
      findings = [{ pointer: '#/spec/info', code: 'required', detail: 'must be there' }];
      const full = await make({
        id: 'Full',
        description: 'Größe "L"\n',
        projectId: 'p-1',
        groupPath: 'a/b',
        members: ['One', 'two'],
        counts: { endpoints: 9007199254740991, constructor: 0 },
        specText: '{"n":12345678901234567890,"none":null}',
        lifecycle: 'DRAFT',
      });
      const bare = await make({ id: 'bare', lifecycle: 'DRAFT' });
      expect(await read('1.0.0', 'fULL')).toEqual({
        kind: 'found',
        record: full,
        specText: '{"n":12345678901234567890,"none":null}',
      });
      expect(full).toMatchObject({ id: 'Full', lifecycle: 'DRAFT', revision: 1, findings });
      expect(await read('1.0.0', 'bare')).toEqual({ kind: 'found', record: bare });
    });

    test('lists leave out what has any size, and findings are counted apart', async () => {
      findings = [{ pointer: '#/spec', code: 'a', detail: '\0\ud800' }];
      const big = { members: ['a'], counts: { a: 1 }, description: 'b' };
      const { serial } = await make({ ...big, specText: '{}', lifecycle: 'DRAFT' });
      findings = [];
      const bare = await make({ id: 'bare', lifecycle: 'DRAFT' });
      const range = { workspaceId: W, limit: 9 };
      const lists = [
        await selectListed(db, engineSearch, { ...range, rows: 'artifacts' }),
        await selectListed(db, engineSearch, { ...range, rows: 'versions', terms: ['b'] }),
        await selectVersions(db, { ...range, id: 'petstore' }),
      ];
      for (const items of lists) {
        const row = items.map(({ item }) => item).find((item) => item.serial === serial);
        expect(row).toMatchObject({ id: 'petstore', description: 'b', revision: 1 });
        expect(row).not.toHaveProperty('members');
        expect(row).not.toHaveProperty('counts');
        expect(row).not.toHaveProperty('findings');
      }
      expect(await countFindings(db, [{ serial }, bare])).toEqual(new Map([[serial, 1]]));
    });

    test('reads the spec only when it is asked for', async () => {
      await make({ specText: '{}' });
      const found = await readVersion(db, W, { id: 'petstore', withSpec: false });
      expect(found).toMatchObject({ kind: 'found', specText: undefined });
    });

    test('tells an unknown artifact, an unknown version and no default version apart', async () => {
      const draft = await make({ lifecycle: 'DRAFT' });
      expect(await read(undefined, 'other')).toEqual({ kind: 'no-artifact' });
      expect(await read('9')).toEqual({ kind: 'no-version' });
      expect(await read()).toEqual({ kind: 'no-default', listed: draft });
    });

    test('ids are one whatever their case, and keep the first spelling', async () => {
      await make({ id: 'PetStore', version: '1.0.0' });
      const second = await make({ id: 'petstore', version: '2.0.0' });
      expect(second.id).toBe('PetStore');
      await expect(insert({ id: 'PETSTORE', version: '2.0.0' })).rejects.toMatchObject({
        code: 'version-exists',
        extensions: { current: 'PUBLISHED' },
      });
      expect(await list()).toEqual(['PetStore@2.0.0']);
    });

    test('versions are told apart byte by byte', async () => {
      await make({ version: 'v1' });
      expect((await insert({ version: 'V1' })).record.version).toBe('V1');
      expect((await insert({ version: '1' })).record.version).toBe('1');
    });

    test('a version that nobody names is 1.0.0, then the next minor of the highest', async () => {
      const names = [];
      for (const version of [undefined, undefined, '2.5.1', undefined, '3.0.0-rc.1', undefined])
        names.push((await insert(version === undefined ? {} : { version })).record.version);
      expect(names).toEqual(['1.0.0', '1.1.0', '2.5.1', '2.6.0', '3.0.0-rc.1', '3.1.0']);
    });

    test('a version must be named where the next minor would be too long', async () => {
      await insert({ version: '9'.repeat(64) });
      await expect(insert()).rejects.toMatchObject({
        code: 'validation-failed',
        errors: [{ pointer: '#/version', code: 'missing' }],
      });
    });

    test('of many equal creates at once one is made', async () => {
      const creates = Array.from({ length: 20 }, () => insert({ version: '1.0.0' }));
      const codes = (await Promise.allSettled(creates)).map((one) =>
        one.status === 'fulfilled' ? 'made' : one.reason.code,
      );
      expect(codes.filter((code) => code === 'made')).toHaveLength(1);
      expect(codes.filter((code) => code === 'version-exists')).toHaveLength(19);
    });

    test('of creates of several types at once only those of one type are made', async () => {
      const types = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? 'API' : 'EVENT'));
      const all = await Promise.allSettled(types.map((type) => insert({ type })));
      const made = all.flatMap((one) =>
        one.status === 'fulfilled' ? [one.value.record.type] : [],
      );
      const [type = ''] = made;
      expect(made).toEqual(Array(10).fill(type));
      const refused = all.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      expect(refused).toHaveLength(10);
      for (const error of refused)
        expect(error).toMatchObject({ errors: [{ pointer: '#/type', code: 'mismatch' }] });
      const versions = await selectVersions(db, { workspaceId: W, id: 'petstore', limit: 99 });
      expect(versions).toHaveLength(10);
    });

    test('a version takes another type only while it is alone', async () => {
      const replace = async (record: VersionRecord, type: string): Promise<VersionRecord> => {
        const content = { ...CONTENT, type, specText: '{}' };
        return (await replaceVersion(catalog, owner, { ...nameOf(record), content, ifMatch: any }))
          .record;
      };
      const first = await make({ lifecycle: 'DRAFT' });
      expect((await make({ id: 'other', type: 'SCHEMA' })).type).toBe('SCHEMA');
      const alone = await replace(first, 'EVENT');
      expect(alone.type).toBe('EVENT');
      const second = await make({ version: '2.0.0', type: 'EVENT', lifecycle: 'DRAFT' });
      for (const former of [alone, second]) {
        const refused = { errors: [{ pointer: '#/type', code: 'mismatch' }] };
        await expect(replace(former, 'API')).rejects.toMatchObject(refused);
        expect(await read(former.version)).toMatchObject({ kind: 'found', record: former });
      }
      expect(await auditOf('petstore')).toHaveLength(3);
      await deleteVersion(catalog, owner, { ...nameOf(alone), ifMatch: any });
      expect((await replace(second, 'API')).type).toBe('API');
    });

    test('a draft that is edited while it is compared is compared again, and published as it is then', async () => {
      const specText = '{"openapi":"3.1.0","info":{"title":"x","version":"1"},"paths":{"/a":{}}}';
      await make({ version: '1.0.0', specText });
      await insert({ version: '1.1.0', specText: specText.replace('/a', '/b') });
      const edit = async (title: string): Promise<void> => {
        const ref = { id: 'petstore', version: '1.1.0' };
        await patchVersion(catalog, owner, { ...ref, patch: { title }, ifMatch: any });
      };
      let edits = 0;
      meanwhile = () => edit(`Edit ${(edits += 1)}`);
      await expect(publishVersion(catalog, owner, { id: 'petstore' })).rejects.toMatchObject({
        code: 'overloaded',
        retryAfterSeconds: 1,
      });
      meanwhile = async () => {
        meanwhile = async () => undefined;
        await edit('Edited');
      };
      const { record } = await publishVersion(catalog, owner, { id: 'petstore' });
      const revision = 1 + edits + 1 + 1; // made, edited, and published
      expect(record).toMatchObject({ title: 'Edited', lifecycle: 'PUBLISHED', revision });
      expect(await read('1.1.0')).toMatchObject({ kind: 'found', record });
    });

    test('of two changes of the same revision one is done', async () => {
      const view = await insert();
      const ifMatch = { kind: 'tags', tags: [entityTagOf(view)] } as const;
      const target = { ...nameOf(view.record), ifMatch };
      const done = await Promise.allSettled([
        patchVersion(catalog, owner, { ...target, patch: { title: 'New' } }),
        patchVersion(catalog, owner, { ...target, patch: { title: 'Newer' } }),
        deleteVersion(catalog, owner, target),
      ]);
      expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const found = await read('1.0.0');
      if (done[2].status === 'fulfilled') return expect(found).toEqual({ kind: 'no-artifact' });
      const title = done[0].status === 'fulfilled' ? 'New' : 'Newer';
      expect(found).toMatchObject({ record: { title, revision: 2 } });
      return expect(await auditOf('petstore')).toHaveLength(2);
    });

    test('a change that lost leaves the spec alone', async () => {
      const record = await make({ lifecycle: 'DRAFT', specText: '{"a":1}' });
      const ifMatch = { kind: 'tags', tags: ['"stale"'] } as const;
      const content = { ...CONTENT, specText: '{}' };
      await expect(
        replaceVersion(catalog, owner, { ...nameOf(record), content, ifMatch }),
      ).rejects.toMatchObject({ code: 'precondition-failed' });
      await expect(
        deleteVersion(catalog, owner, { ...nameOf(record), ifMatch }),
      ).rejects.toMatchObject({
        code: 'precondition-failed',
      });
      expect(await read('1.0.0')).toEqual({ kind: 'found', record, specText: '{"a":1}' });
    });

    test('a spec is replaced, left alone, or taken away', async () => {
      const { record } = await insert({ specText: '{"a":1}' });
      const replace = (spec: { specText?: string }) =>
        replaceVersion(catalog, owner, {
          ...nameOf(record),
          content: { ...CONTENT, ...spec },
          ifMatch: any,
        });
      expect((await replace({ specText: '{"a":2}' })).specText).toBe('{"a":2}');
      expect(await read('1.0.0')).toMatchObject({ specText: '{"a":2}' });
      const edit = { ...nameOf(record), patch: { title: 'New' }, ifMatch: any };
      expect((await patchVersion(catalog, owner, edit)).specText).toBe('{"a":2}');
      expect(await read('1.0.0')).toMatchObject({ specText: '{"a":2}' });
      expect((await replace({})).specText).toBeUndefined();
      expect(await read('1.0.0')).toMatchObject({ specText: undefined });
    });

    test('with its last version an artifact is gone, and a new one is another', async () => {
      const first = await make({ lifecycle: 'DRAFT', specText: '{}' });
      await deleteVersion(catalog, owner, { id: 'petstore', ifMatch: any });
      expect(await read()).toEqual({ kind: 'no-artifact' });
      expect(await list()).toEqual([]);
      expect(await search('petstore')).toEqual([]);
      expect(await findArtifact(db, W, 'petstore')).toBeUndefined();
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
      const dep = await move(old, 'DEPRECATED');
      expect(await defaultOf('petstore')).toBe('10.0.0-rc.1');
      await move(candidate, 'DEPRECATED');
      expect(await defaultOf('petstore')).toBe('1.0.0');
      await move(dep, 'RETIRED');
      expect(await defaultOf('petstore')).toBe('10.0.0-rc.1');
    });

    test('a set default stays until it is retired', async () => {
      const one = await make({ version: '1.0.0' });
      await make({ version: '2.0.0' });
      expect(await setDefault(catalog, owner, nameOf(one))).toMatchObject({ record: one });
      expect(await defaultOf('petstore')).toBe('1.0.0');
      const deprecated = await move(one, 'DEPRECATED');
      expect(await defaultOf('petstore')).toBe('1.0.0');
      await move(deprecated, 'RETIRED');
      expect(await defaultOf('petstore')).toBe('2.0.0');
    });

    test('a default is unset only while it is set, and then computed again', async () => {
      const one = await make({ version: '1.0.0' });
      const two = await make({ version: '2.0.0' });
      const isSet = async (record: VersionRecord): Promise<boolean> =>
        (await readRelations(db, record)).isSetDefault;
      const unset = async () =>
        (await unsetDefault(catalog, owner, { id: 'petstore' })).record.version;
      expect(await unset()).toBe('2.0.0');
      await setDefault(catalog, owner, nameOf(one));
      expect(await Promise.all([one, two].map(isSet))).toEqual([true, false]);
      expect(await search('petstore')).toEqual(['petstore@1.0.0']);
      expect(await unset()).toBe('2.0.0');
      expect(await defaultOf('petstore')).toBe('2.0.0');
      expect(await search('petstore')).toEqual(['petstore@2.0.0']);
      expect(await Promise.all([one, two].map(isSet))).toEqual([false, false]);
      expect(await unset()).toBe('2.0.0');
      await make({ version: '3.0.0' });
      expect(await defaultOf('petstore')).toBe('3.0.0');
      const log = (await auditOf('petstore')).map(({ item }) => item);
      const entries = log.filter(({ action }) => action === 'artifact.unset-default');
      expect(entries.map(({ changes }) => changes?.['version'])).toEqual(['1.0.0']);
    });

    test('another workspace has nothing of it', async () => {
      const record = await make({ groupPath: 'a', type: 'GROUP' });
      await make({ id: 'child', groupPath: 'a' });
      const other = { ...owner, workspaceId: 'other' };
      const ref = nameOf(record);
      const found = await readVersion(db, 'other', { ...ref, withSpec: true });
      expect(found).toEqual({ kind: 'no-artifact' });
      expect(await findArtifact(db, 'other', 'petstore')).toBeUndefined();
      for (const rows of ['artifacts', 'versions'] as const) {
        expect(await list({ rows }, 'other')).toEqual([]);
        expect(await list({ rows, terms: ['petstore'] }, 'other')).toEqual([]);
      }
      const ifMatch = any;
      for (const attempt of [
        () => listVersions(catalog, other, { id: 'petstore', limit: 5 }),
        () => listAudit(catalog, other, { id: 'petstore', limit: 5 }),
        () => patchVersion(catalog, other, { ...ref, patch: { title: 'New' }, ifMatch }),
        () => deprecateVersion(catalog, other, ref),
        () => deleteVersion(catalog, other, { ...ref, ifMatch }),
        () => setDefault(catalog, other, ref),
        () => unsetDefault(catalog, other, ref),
      ])
        await expect(attempt()).rejects.toMatchObject({ code: 'artifact-not-found' });
      const group = await make({ id: 'petstore', type: 'GROUP', groupPath: 'a' }, 'other');
      const listed = await make({ id: 'lister', members: ['child', 'petstore'] }, 'other');
      expect(await readRelations(db, group)).toEqual({
        versions: 1,
        members: [],
        membersByType: {},
        isSetDefault: false,
      });
      const { members } = await readRelations(db, listed);
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
            const page = await selectListed(db, engineSearch, {
              workspaceId: W,
              rows,
              limit: 2,
              ...(after !== undefined && { after }),
              ...(terms && { terms }),
            });
            seen.push(...page.map(({ item }) => item.id));
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
      await patchVersion(catalog, owner, {
        ...nameOf(one),
        patch: { title: 'Gamma' },
        ifMatch: any,
      });
      expect(await search('alpha', { rows: 'versions' })).toEqual([]);
      expect(await search('gamma', { rows: 'versions' })).toEqual(['a@1.0.0']);
    });

    test('lists the versions of an artifact in their order, page by page', async () => {
      const names = ['1.0.0-rc.1', '1.0.0', '10.0.0', '2.0.0', 'zeta', 'v3', '1.0.0-rc.10'];
      for (const version of names) await make({ version, lifecycle: 'DRAFT' });
      const all = await selectVersions(db, { workspaceId: W, id: 'PETSTORE', limit: 100 });
      expect(all.map(({ item }) => item.version)).toEqual([
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
      const makeAt = (at: number, facts: Parameters<typeof make>[0]) => {
        now = at;
        return make(facts);
      };
      await makeAt(5, { version: '1.0', lifecycle: 'DRAFT' });
      const second = await makeAt(4, { version: '1.0.0', lifecycle: 'DRAFT' });
      await makeAt(6, { version: 'v1', lifecycle: 'DRAFT' });
      now = 10;
      await move(second, 'PUBLISHED');
      const all = await selectVersions(db, { workspaceId: W, id: 'petstore', limit: 100 });
      expect(all.map(({ item }) => item.version)).toEqual(['1.0.0', 'v1', '1.0']);
    });

    test('keeps who did what to an artifact, newest first', async () => {
      const record = await make({ lifecycle: 'DRAFT' });
      now = 2;
      await patchVersion(catalog, owner, {
        ...nameOf(record),
        patch: { title: 'New' },
        ifMatch: any,
      });
      const entries = await auditOf('PetStore');
      const [edit, create] = entries.map(({ item }) => item);
      const { actor, requestId } = owner;
      expect(edit).toMatchObject({ at: 2, action: 'artifact.edit', actor, requestId });
      expect(create).toMatchObject({
        at: 1,
        action: 'artifact.create',
        subject: 'artifact/default/petstore',
        changes: { version: '1.0.0', type: 'API', owner: 'team-a', title: 'Pet store' },
      });
      const after = entries[0]?.position;
      const rest = await listAuditOf(db, 'artifact/default/petstore', { after, limit: 10 });
      expect(rest).toEqual(entries.slice(1));
    });

    test("members are the owner's list, in its order, by default version", async () => {
      await make({ id: 'one', version: '1.0.0', title: 'Old', type: 'EVENT' });
      await make({ id: 'one', version: '2.0.0', title: 'New', type: 'EVENT', groupPath: 'g' });
      await make({ id: 'two', lifecycle: 'DEPRECATED' });
      await make({ id: 'draft', lifecycle: 'DRAFT' });
      const group = await make({ id: 'g', members: ['two', 'ONE', 'draft', 'missing', 'G'] });
      expect(await readRelations(db, group)).toEqual({
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
      const relations = await readRelations(db, group);
      expect(relations.members?.map(({ id }) => id)).toEqual(['A', 'b', 'e']);
      expect(relations.membersByType).toEqual({ API: 2, EVENT: 1 });
      const empty = await make({ id: 'none', type: 'GROUP', groupPath: 'shop', members: [] });
      expect((await readRelations(db, empty)).members).toEqual([]);
      const api = await make({ id: 'api', groupPath: 'shop' });
      expect(await readRelations(db, api)).toEqual({
        versions: 1,
        membersByType: {},
        isSetDefault: false,
      });
      const pathless = await make({ id: 'pathless', type: 'GROUP' });
      expect((await readRelations(db, pathless)).members).toEqual([]);
    });

    test('what is done under a key has its response stored with it, rendered as it is then', async () => {
      const [first, second, third] = [keyedCall(1), keyedCall(2), keyedCall(3)];
      const draft = newDraft({ specText: '{"a":1}' });
      const made = await createVersion(
        catalog,
        { ...owner, storeUnderKey: storeUnderKey(first) },
        draft,
      );
      await publishVersion(catalog, owner, { id: 'petstore' });
      const deprecate = (call: KeyedCall) =>
        deprecateVersion(
          catalog,
          { ...owner, storeUnderKey: storeUnderKey(call) },
          nameOf(made.record),
        );
      const deprecated = await deprecate(second);
      expect(await deprecate(third)).toEqual(deprecated);
      const responses = await Promise.all([first, second, third].map((call) => findCall(db, call)));
      expect(responses).toEqual([
        { kind: 'stored', response: versionResponse(made) },
        { kind: 'stored', response: versionResponse(deprecated) },
        { kind: 'stored', response: versionResponse(deprecated) },
      ]);
      expect(versionResponse(made)).toBe(versionResponse(made)); // what is stored is what is sent
      expect(versionResponse(deprecated).body).toMatch(/"DEPRECATED".*"spec":\{"a":1\}/);
      await expect(
        publishVersion(
          catalog,
          { ...owner, storeUnderKey: storeUnderKey(keyedCall(4)) },
          nameOf(made.record),
        ),
      ).rejects.toMatchObject({ code: 'invalid-lifecycle-transition' });
      expect(await findCall(db, keyedCall(4))).toEqual({ kind: 'nothing' });
    });

    test('a key that was taken meanwhile undoes the change', async () => {
      const caller = { ...owner, storeUnderKey: storeUnderKey(keyedCall(1)) };
      await createVersion(catalog, caller, newDraft({ id: 'first' }));
      const second = createVersion(catalog, caller, newDraft({ id: 'second' }));
      await expect(second).rejects.toMatchObject({ code: 'idempotency-in-progress' });
      expect(await list()).toEqual(['first@1.0.0']);
    });

    test('a version that was superseded names the published default', async () => {
      const one = await make({ version: '1.0.0', lifecycle: 'DEPRECATED' });
      expect(await readRelations(db, one)).not.toHaveProperty('successor');
      const two = await make({ version: '2.0.0' });
      expect(await readRelations(db, one)).toMatchObject({ versions: 2, successor: '2.0.0' });
      expect(await readRelations(db, two)).not.toHaveProperty('successor');
    });
  });
}

function keyedCall(number: number): KeyedCall {
  const [digest, fingerprint] = [Buffer.from([number]), Buffer.from('same')];
  return { workspaceId: W, digest, fingerprint, now: 1 };
}

const CONTENT = { type: 'API', owner: 'team-a', title: 'Pet store', source: 'INLINE' };

export function newDraft(facts: Partial<Draft>): Draft {
  return { id: 'petstore', ...CONTENT, ...facts };
}

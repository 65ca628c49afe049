import { expect, test } from 'vitest';
import { readDirectoryView } from '#leads/directory/directory-view.ts';
import { email, externalId } from '../../support/identities.ts';
import { toHashedIdentity } from '#leads/directory/lead-directory.ts';
import { directoryKey, entry, openedDirectory, REPOSITORY } from '../../support/directory.ts';
import { temporaryDatabase } from '../../support/stores.ts';
import { putEntries } from '#leads/directory/write-directory.ts';

const identities = [email('ada@example.com'), externalId('crm-one', '7')];
const hashed = identities.map((identity) => toHashedIdentity(directoryKey, identity));
const leadIds = [1, 2, 3, 4].map((number) => ({ kind: 'lead-id' as const, number }));
const names = [...leadIds, ...hashed];

async function setUp() {
  const database = temporaryDatabase();
  const directory = await openedDirectory(database);
  await putEntries(
    directory,
    [2, 1].map((number) => entry(number, { identities })),
  );
  await putEntries(directory, [entry(3)]);
  const view = (repository = REPOSITORY) => readDirectoryView(database, repository, names);
  const hashesOf = async (number: number) => {
    const identitiesOfLead = (await view()).identitiesOf(number);
    return new Set(identitiesOfLead.map(({ kind, hash }) => `${kind} ${hash.toString('hex')}`));
  };
  return { view, hashesOf };
}

const expected = new Set(hashed.map(({ kind, hash }) => `${kind} ${hash.toString('hex')}`));

test('tells what the directory knows of a number, and who has an identity', async () => {
  const { view: read, hashesOf } = await setUp();
  const view = await read();
  expect([1, 2, 3, 4].map((number) => view.has(number))).toEqual([true, true, true, false]);
  expect(hashed.map(({ hash }) => view.find(hash))).toEqual([
    [1, 2],
    [1, 2],
  ]);
  expect(await hashesOf(1)).toEqual(expected);
  expect(await hashesOf(3)).toEqual(new Set());
});

test('knows nothing of another repository', async () => {
  const { view: read } = await setUp();
  const view = await read('acme/other');
  expect(view.has(1)).toBe(false);
  expect(view.identitiesOf(1)).toEqual([]);
  expect(hashed.flatMap(({ hash }) => view.find(hash))).toEqual([]);
});

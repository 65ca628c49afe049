/** A 202 for readers: leads that the directory knows are claimed in the same transaction. */
import { describe, expect, test } from 'vitest';
import type { SqliteDatabase } from '#adapters/sqlite/database.ts';
import { correlationId, email, externalId as externalIdOf } from '../../support/identities.ts';
import { rulesCheckOf } from '#leads/directory/lead-directory.ts';
import { createClaims } from '../../support/claims.ts';
import {
  directoryKey,
  entry,
  leadRules,
  openedDirectory,
  REPOSITORY_ID,
} from '../../support/directory.ts';
import { connectTo, temporaryDatabase } from '../../support/stores.ts';
import { createFakeClock } from '../../support/clock.ts';
import { secretsOf } from '../../support/partners.ts';
import { adoptRepository, putEntries } from '#leads/directory/write-directory.ts';
import { readReceipt } from '#partners/receipts/read-receipts.ts';
import { openWorld } from '../../support/world.ts';

const partners = {
  'crm-one': {
    scheme: 'hmac-sha256',
    secrets: secretsOf('s'),
    deletions: { types: ['gone'] },
  },
} as const;

const externalId = (value: string) => externalIdOf('crm-one', value);

/** The intake of one process, whose worker never gets a turn. */
function intakeOf(database: SqliteDatabase) {
  const time = { now: 1000 };
  const { receipts, deliver } = openWorld({
    database,
    repository: 'Acme/Leads',
    partners,
    clock: { ...createFakeClock(), now: () => time.now },
  });
  const claims = createClaims(database);
  return {
    receipts,
    claims,
    time,
    deliver,
    claimed: async () => {
      const view = await claims.current();
      return Array.from({ length: 1000 }, (_, number) => number).filter((number) =>
        view.has(number),
      );
    },
    leadIdsOf: async (id: string) =>
      (await readReceipt(receipts.db, id))?.events.map(({ leadIds }) => leadIds.join()),
  };
}

async function setUp() {
  const database = temporaryDatabase();
  const directory = await openedDirectory(database);
  await putEntries(directory, [
    entry(24, { identities: [email('a@b.example'), externalId('x-24')] }),
    entry(25, { identities: [email('a@b.example'), correlationId('c-25')], isReadable: false }),
    entry(30, { identities: [email('other@b.example')] }),
  ]);
  return { database, directory, ...intakeOf(database) };
}

describe('the answer to a deletion means that no reader sees', () => {
  test.each([
    [{ leadId: '24' }, [24]],
    [{ leadId: 24 }, [24]],
    [{ leadId: ' #24' }, [24]],
    [{ correlationId: 'c-25' }, [25]],
    [{ externalId: 'x-24' }, [24]],
    [{ email: 'A <A@B.example>' }, [24, 25]],
    [{ leadId: '24', email: 'a@b.example' }, [24]],
    [{ email: 'nobody@b.example' }, []],
  ])('the leads that %j names', async (event, numbers) => {
    const { deliver, claimed, leadIdsOf, database } = await setUp();
    const elsewhere = intakeOf(connectTo(database.handle.name));
    expect(await elsewhere.claimed()).toEqual([]);
    const { receipt } = await deliver(event);
    expect(await claimed()).toEqual(numbers);
    expect(await elsewhere.claimed()).toEqual(numbers);
    expect(await leadIdsOf(receipt.id)).toEqual([numbers.join()]);
  });

  test('the leads of every event of a batch, each on its own event', async () => {
    const { deliver, claimed, leadIdsOf } = await setUp();
    const { receipt } = await deliver([
      { externalId: 'x-24' },
      { eventType: 'kept', correlationId: 'c-25' },
      'nonsense',
      { leadId: '30' },
    ]);
    expect(await claimed()).toEqual([24, 30]);
    expect(await leadIdsOf(receipt.id)).toEqual(['24', '', '', '30']);
  });

  test('the lead of an event id that comes again with another person', async () => {
    const { deliver, claimed } = await setUp();
    await deliver([
      { eventId: 'B1', leadId: '24' },
      { eventId: 'B1', leadId: '30' },
    ]);
    expect(await claimed()).toEqual([24, 30]);
  });

  test('nothing when the call could not be accepted', async () => {
    const { deliver, claimed, database } = await setUp();
    await database.exec(
      `CREATE TRIGGER full AFTER INSERT ON claim WHEN NEW.number = 30
       BEGIN SELECT RAISE(ABORT, 'full'); END`,
    );
    await expect(deliver([{ leadId: '24' }, { leadId: '30' }])).rejects.toThrow('full');
    expect(await claimed()).toEqual([]);
  });

  test('nothing of what comes to the other path', async () => {
    const { deliver, claimed } = await setUp();
    await deliver({ leadId: '24' }, { path: 'events' });
    expect(await claimed()).toEqual([]);
  });
});

describe('a lead that belongs to another person than the event names', () => {
  test.each([
    [{ leadId: '30', email: 'a@b.example' }, [24, 25]],
    [{ correlationId: 'c-25', email: 'other@b.example' }, [30]],
    [{ leadId: '30', email: 'nobody@b.example' }, []],
  ])('is not claimed: %j', async (event, numbers) => {
    const { deliver, claimed } = await setUp();
    await deliver(event);
    expect(await claimed()).toEqual(numbers);
  });
});

describe('a lead id', () => {
  test('claims a lead that the directory does not know, and what the other names find', async () => {
    const { deliver, claimed, leadIdsOf } = await setUp();
    const { receipt } = await deliver({ leadId: '77', externalId: 'x-24' });
    expect(await claimed()).toEqual([24, 77]);
    expect(await leadIdsOf(receipt.id)).toEqual(['24,77']);
  });

  test('claims before the first answer of the tracker, and for good', async () => {
    const database = temporaryDatabase();
    const { deliver, claimed, claims } = intakeOf(database);
    await deliver([{ leadId: '24' }, { email: 'a@b.example' }]);
    expect(await claimed()).toEqual([24]);
    const directory = await openedDirectory(database);
    expect(await claimed()).toEqual([24]);
    expect((await claims.list({ limit: 9 })).items).toMatchObject([{ leadId: '24' }]);
    await adoptRepository(directory, REPOSITORY_ID, {
      rules: rulesCheckOf(leadRules, directoryKey),
      at: 5,
    });
    expect(await claimed()).toEqual([24]);
  });

  test('claims nothing of a repository that the name meant before', async () => {
    const { deliver, claimed, directory } = await setUp();
    await deliver({ leadId: '24' });
    await adoptRepository(directory, 99, { rules: rulesCheckOf(leadRules, directoryKey), at: 5 });
    expect(await claimed()).toEqual([]);
  });
});

describe('an event that comes again', () => {
  const release = { actor: { kind: 'cli', subject: 'ops' }, action: 'claim.release' } as const;

  test('claims what was created by then, when it may be a new wish', async () => {
    const { deliver, claimed, directory, leadIdsOf, time } = await setUp();
    const { receipt } = await deliver({ email: 'late@b.example' });
    await putEntries(directory, [
      entry(40, { createdAt: 2000, identities: [email('late@b.example')] }),
    ]);
    expect(await claimed()).toEqual([]);
    time.now = 2000;
    expect((await deliver({ email: 'late@b.example' })).kind).toBe('repeat');
    expect(await claimed()).toEqual([40]);
    expect(await leadIdsOf(receipt.id)).toEqual(['40']);
  });

  test('claims anew what an operator had given back, when it may be a new wish', async () => {
    const { deliver, claimed, claims } = await setUp();
    await deliver({ leadId: '24' });
    await claims.release(24, { ...release, at: 5 });
    expect(await claimed()).toEqual([]);
    await deliver({ leadId: '24' });
    expect(await claimed()).toEqual([24]);
  });

  test('with an id of its own leaves alone what was given back', async () => {
    const { deliver, claimed, claims } = await setUp();
    await deliver({ eventId: 'e', leadId: '24' });
    await claims.release(24, { ...release, at: 5 });
    await deliver({ eventId: 'e', leadId: '24' });
    expect(await claimed()).toEqual([]);
  });
});

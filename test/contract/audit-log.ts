import { beforeEach, describe, expect, test } from 'vitest';
import type { AuditFilter, readEntries } from '#access/audit-log.ts';
import type { AuditAction, AuditEntry } from '#shared/audit.ts';

/** Engine of the contract. Everything is released when the running test ends. */
type AuditLogFixture = {
  list(query: Parameters<typeof readEntries>[1]): ReturnType<typeof readEntries>;
  append(entry: AuditEntry): Promise<void>;
};

type Open = () => Promise<AuditLogFixture>;

function entry(
  at: number,
  { actor = 'ops', action = 'key.revoke', subject = 'consumer/1' } = {},
): AuditEntry {
  return { at, actor: { kind: 'cli', subject: actor }, action: action as AuditAction, subject };
}

/** One body for every engine: what the audit log promises. */
export function describeAuditLog(engine: string, open: Open): void {
  describe(`audit log on ${engine}`, () => {
    let fixture: AuditLogFixture;

    beforeEach(async () => {
      fixture = await open();
    });

    /** The instants of all pages, one array for each. */
    const pages = async (filter: AuditFilter, limit: number): Promise<number[][]> => {
      const found: number[][] = [];
      for (let after: [number, number] | undefined; ;) {
        const rows = await fixture.list({ filter, limit, after });
        if (rows.length === 0) return found;
        found.push(rows.map(({ item }) => item.at));
        after = rows.at(-1)?.position;
      }
    };

    test('gives an entry back as it was appended, with and without every optional field', async () => {
      const full: AuditEntry = {
        at: 1,
        actor: { kind: 'token', subject: 'owner', clientId: 'tool' },
        action: 'artifact.edit',
        subject: 'artifact/w/a',
        changes: { title: 'Größe "L"\u0001', gone: null, members: ['a'] },
        requestId: 'r-1',
      };
      await fixture.append(full);
      await fixture.append(entry(2));
      const rows = await fixture.list({ filter: {}, limit: 9 });
      expect(rows.map(({ item }) => item)).toEqual([entry(2), full]);
    });

    test('is read newest first, page by page, each entry once, also those of one instant', async () => {
      for (const at of [5, 7, 7, 7, 6]) await fixture.append(entry(at));
      expect(await pages({}, 2)).toEqual([[7, 7], [7, 6], [5]]);
      expect(await pages({}, 5)).toEqual([[7, 7, 7, 6, 5]]);
    });

    test('is read by who, what, about what and since when, alone and together', async () => {
      const others = [{ actor: 'b' }, { action: 'key.rotate' }, { subject: 'claim/1' }, {}];
      for (const [at, facts] of others.entries()) await fixture.append(entry(at, facts));
      expect(await pages({ actor: 'b' }, 9)).toEqual([[0]]);
      expect(await pages({ action: 'key.rotate' }, 9)).toEqual([[1]]);
      expect(await pages({ subject: 'claim/1' }, 9)).toEqual([[2]]);
      expect(await pages({ since: 2 }, 9)).toEqual([[3, 2]]);
      expect(await pages({ before: 2 }, 1)).toEqual([[1], [0]]);
      expect(await pages({ since: 1, before: 3 }, 9)).toEqual([[2, 1]]);
      for (const requestId of ['r-1', 'r-2', 'r-1'])
        await fixture.append({ ...entry(9), requestId });
      expect(await pages({ requestId: 'r-1', subject: 'consumer/1' }, 1)).toEqual([[9], [9]]);
      const filter = { actor: 'ops', action: 'key.revoke', subject: 'consumer/1' } as const;
      expect(await pages({ ...filter, since: 1, before: 9 }, 9)).toEqual([[3]]);
      expect(await pages({ ...filter, since: 4, before: 9 }, 9)).toEqual([]);
    });
  });
}

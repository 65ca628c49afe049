import { createAuditLog } from '#adapters/store/audit-log.ts';
import type { Database } from '#adapters/postgres/connection/database.ts';
import { createGroupCommit } from '#adapters/postgres/group-commit.ts';
import { createReceiptStore } from '#adapters/postgres/receipt/receipt-store.ts';
import { REFRESH_RECEIPT_STATUS } from '#adapters/postgres/receipt/status.ts';
import { payloadIdentity } from '#partners/receipts/payload.ts';
import { describeReceiptStore } from '../../../contract/receipt-store.ts';
import type { EventState, ReceiptStoreFixture } from '../../../contract/receipt-store.ts';
import { REPOSITORY } from '../../../support/directory.ts';
import { sealer } from '../../../support/partners.ts';
import { temporaryPostgres } from '../../../support/postgres/database.ts';

const EVENT = `
  SELECT event.id, receipt FROM event JOIN receipt ON number = receipt
  WHERE receipt.id = @receiptId AND position = @position`;

const SETTLE = `
  UPDATE event SET outcome = @outcome, completed_at = @at, last_error = @lastError,
    attempts = @attempts, due_at = NULL, lead_ids = coalesce(@leadIds, lead_ids),
    payload = CASE WHEN @outcome = 'DONE' THEN NULL ELSE payload END
  WHERE id = @id`;

const STATE = `
  SELECT position, outcome, attempts, due_at, again, payload
  FROM event JOIN receipt ON number = receipt WHERE receipt.id = @receiptId ORDER BY position`;

type EventRow = { id: number; receipt: number };
type StateRow = Omit<EventState, 'payload'> & { payload: Buffer | null };

function openFixture(database: Database): ReceiptStoreFixture {
  const eventOf = async (receiptId: string, position: number): Promise<EventRow> => {
    const found = await database.get<EventRow>(EVENT, { receiptId, position });
    if (!found) throw new Error('no such event');
    return found;
  };
  return {
    store: createReceiptStore({
      database,
      groupCommit: createGroupCommit(database),
      sealer,
      repository: REPOSITORY,
    }),
    settle: async (receiptId, { position = 0, at = 1, attempts = 1, ...end }) => {
      const { id, receipt } = await eventOf(receiptId, position);
      const { outcome, lastError = null, leadIds = null } = end;
      await database.run(SETTLE, { id, at, attempts, outcome, lastError, leadIds });
      await database.run(REFRESH_RECEIPT_STATUS, { receipts: [receipt] });
    },
    begin: async (receiptId) => {
      const { id } = await eventOf(receiptId, 0);
      const sql = "UPDATE event SET lease_token = 'held', lease_until = 9 WHERE id = @id";
      await database.run(sql, { id });
    },
    auditOf: (subject) => createAuditLog(database).listOf(subject),
    stateOf: async (receiptId) =>
      (await database.all<StateRow>(STATE, { receiptId })).map((row) => ({
        ...row,
        payload: unseal(receiptId, row),
      })),
  };
}

function unseal(receiptId: string, row: StateRow): string | undefined {
  const identity = payloadIdentity(receiptId, row.position);
  return row.payload === null ? undefined : sealer.open(identity, row.payload).toString();
}

describeReceiptStore('PostgreSQL', async () => openFixture(await temporaryPostgres()));

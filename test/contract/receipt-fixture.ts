import { REFRESH_RECEIPT_STATUS } from '#partners/receipts/event-changes.ts';
import type { Database, Statements } from '#shared/database.ts';
import { toJson } from '#shared/sql.ts';
import { payloadIdentity } from '#partners/receipts/receipt.ts';
import type { EventState, ReceiptsFixture } from './receipts.ts';
import { receiptsIn, sealer } from '../support/partners.ts';
import { auditOf } from '../support/audit.ts';

const EVENT = `
  SELECT event.id, receipt FROM event JOIN receipt ON number = receipt
  WHERE receipt.id = @receiptId AND position = @position`;

const SETTLE = `
  UPDATE event SET outcome = @outcome, completed_at = @at, last_error = @lastError,
    attempts = @attempts, due_at = NULL, lead_ids = coalesce(@leadIds::jsonb, lead_ids),
    payload = CASE WHEN @outcome = 'DONE' THEN NULL ELSE payload END
  WHERE id = @id`;

const STATE = `
  SELECT position, outcome, attempts, due_at, again, payload
  FROM event JOIN receipt ON number = receipt WHERE receipt.id = @receiptId ORDER BY position`;

type EventRow = { id: number; receipt: number };
type StateRow = Omit<EventState, 'payload'> & { payload?: Buffer };

/** `beside` writes into the same store, where the database itself does not. */
export function openReceiptFixture(
  database: Database,
  beside: Statements = database,
): ReceiptsFixture {
  const eventOf = async (receiptId: string, position: number): Promise<EventRow> => {
    const found = await beside.get<EventRow>(EVENT, { receiptId, position });
    if (!found) throw new Error('no such event');
    return found;
  };
  return {
    store: receiptsIn(database),
    settle: async (receiptId, { position = 0, at = 1, attempts = 1, ...end }) => {
      const { id, receipt } = await eventOf(receiptId, position);
      const { outcome, lastError, leadIds } = end;
      await beside.run(SETTLE, {
        id,
        at,
        attempts,
        outcome,
        lastError,
        leadIds: toJson(leadIds),
      });
      await beside.run(REFRESH_RECEIPT_STATUS, { receipts: [receipt] });
    },
    begin: async (receiptId) => {
      const { id } = await eventOf(receiptId, 0);
      const sql = "UPDATE event SET lease_token = 'held', lease_until = 9 WHERE id = @id";
      await beside.run(sql, { id });
    },
    auditOf: (subject) => auditOf(database, subject),
    stateOf: async (receiptId) =>
      (await database.all<StateRow>(STATE, { receiptId })).map((row) => ({
        ...row,
        payload: unseal(receiptId, row),
      })),
  };
}

function unseal(receiptId: string, row: StateRow): string | undefined {
  const identity = payloadIdentity(receiptId, row.position);
  return row.payload === undefined ? undefined : sealer.open(identity, row.payload).toString();
}

import type { Database as Handle } from 'better-sqlite3';
import { toReplayPreview } from '#partners/receipts/receipt-store.ts';
import type { DeadLetterCount, ReceiptStore } from '#partners/receipts/receipt-store.ts';
import { guard } from '../connection/errors.ts';
import { receiptConditions } from './conditions.ts';

type Row = Omit<DeadLetterCount, 'isKept'> & { isKept: 0 | 1 };

/** Counts what `replayAll` would queue and leave, without a write. */
export function createReplayPreview(handle: Handle): Pick<ReceiptStore, 'previewReplay'> {
  return {
    previewReplay: async (filter) =>
      guard(() => {
        const { from, number, where, values } = receiptConditions(handle, filter);
        const conditions = where.length > 0 ? `WHERE ${where.join(' AND ')}` : '';
        const sql = `
          SELECT outcome, payload IS NOT NULL AS isKept, count(*) AS count FROM event
          WHERE outcome IN ('UNMATCHED', 'FAILED')
            AND receipt IN (SELECT ${number} FROM ${from} ${conditions})
          GROUP BY 1, 2`;
        const rows = handle.prepare<unknown[], Row>(sql).all(values);
        return toReplayPreview(rows.map((row) => ({ ...row, isKept: row.isKept === 1 })));
      }),
  };
}

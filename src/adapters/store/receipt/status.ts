/**
 * Brings receipts' statuses in line with their events' outcomes. To be run in the transaction that
 * changed an outcome. Parameter: `receipts`, their numbers.
 */
export const REFRESH_RECEIPT_STATUS = `
  UPDATE receipt SET status = CASE
    WHEN EXISTS (SELECT 1 FROM event WHERE receipt = receipt.number AND outcome = 'PENDING')
      THEN 'ACCEPTED'
    WHEN EXISTS (SELECT 1 FROM event WHERE receipt = receipt.number AND outcome = 'FAILED')
      THEN 'FAILED'
    WHEN EXISTS (SELECT 1 FROM event
      WHERE receipt = receipt.number AND outcome IN ('UNMATCHED', 'REJECTED'))
      THEN 'UNMATCHED'
    ELSE 'PROCESSED'
  END
  WHERE number = ANY(@receipts::bigint[])`;

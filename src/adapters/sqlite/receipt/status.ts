/**
 * Brings a receipt's status in line with its events' outcomes. To be run in the transaction that
 * changed an outcome. Parameter: the receipt's number.
 */
export const REFRESH_RECEIPT_STATUS = `
  update receipt set status = case
    when exists (select 1 from event where receipt = receipt.number and outcome = 'PENDING')
      then 'ACCEPTED'
    when exists (select 1 from event where receipt = receipt.number and outcome = 'FAILED')
      then 'FAILED'
    when exists (select 1 from event
      where receipt = receipt.number and outcome in ('UNMATCHED', 'REJECTED'))
      then 'UNMATCHED'
    else 'PROCESSED'
  end
  where number = ?`;

import { describeReceipts } from '../../../contract/receipts.ts';
import { temporaryPostgres } from '../../../support/postgres/database.ts';
import { openReceiptFixture } from '../../../contract/receipt-fixture.ts';

describeReceipts('PostgreSQL', async () => openReceiptFixture(await temporaryPostgres()));

import { describeReceiptStore } from '../../../contract/receipt-store.ts';
import { temporaryPostgres } from '../../../support/postgres/database.ts';
import { openReceiptFixture } from '../../../support/receipt-fixture.ts';

describeReceiptStore('PostgreSQL', async () => openReceiptFixture(await temporaryPostgres()));

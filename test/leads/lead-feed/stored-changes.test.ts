import { describeLeadFeedStore } from '../../contract/lead-feed-store.ts';
import { temporaryPostgres } from '../../support/postgres/database.ts';
import { temporaryDatabase } from '../../support/stores.ts';

describeLeadFeedStore('SQLite', async () => temporaryDatabase());
describeLeadFeedStore('PostgreSQL', () => temporaryPostgres());

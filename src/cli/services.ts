import type { AuditServices } from './commands/audit.ts';
import type { BackupServices } from './commands/store/backup.ts';
import type { CatalogServices } from './commands/catalog/catalog-import.ts';
import type { ClaimServices } from './commands/claim.ts';
import type { ConsumerServices } from './commands/consumer/consumer.ts';
import type { DoctorServices } from './commands/doctor.ts';
import type { MigrateServices } from './commands/store/migrate.ts';
import type { OpenApiServices } from './commands/openapi.ts';
import type { ReceiptServices } from './commands/receipt/receipt.ts';
import type { RestoreServices } from './commands/store/restore.ts';
import type { ServeServices } from './commands/serve.ts';
import type { StoreServices } from './commands/store/store.ts';
import type { Open } from './command.ts';

/**
 * What the commands need from the composition root, one opener per family: nothing is made before
 * a command needs it.
 */
export type Services = {
  serve: ServeServices;
  openapi: OpenApiServices;
  store: StoreServices;
  doctor: Open<DoctorServices>;
  migrate: Open<MigrateServices>;
  backup: Open<BackupServices>;
  restore: Open<RestoreServices>;
  consumer: Open<ConsumerServices>;
  receipt: Open<ReceiptServices>;
  claim: Open<ClaimServices>;
  audit: Open<AuditServices>;
  catalog: CatalogServices;
};

import type { ServerFacts } from '#adapters/postgres/connection/server-facts.ts';
import type { AuditReader } from '#access/audit/audit-reader.ts';
import type { SessionStore } from '#access/sessions/session-store.ts';
import type { ConsumerStore } from '#access/consumer-store.ts';
import type { ArtifactStore } from '#catalog/artifact-store.ts';
import type { ChangeLog } from '#leads/feed/change-log.ts';
import type { ClaimStore } from '#leads/claims/claim-store.ts';
import type { LeadDirectory } from '#leads/directory/lead-directory.ts';
import type { OutcomeCounts } from '#partners/receipts/outcomes/outcome-counts.ts';
import type { ReceiptStore } from '#partners/receipts/receipt-store.ts';
import type { TrafficStore } from '#partners/traffic/traffic-store.ts';
import type { WorkStore } from '#partners/worker/work-store.ts';
import type { WorkerLock } from '#partners/worker/worker-lock.ts';
import type { Clock } from '#shared/clock.ts';
import type { IdempotencyStore } from '#shared/idempotency.ts';
import type { AppliedMigration, Migration } from '#shared/store/migrations.ts';
import type { WriteCheck } from '#adapters/store/write-check.ts';

/** What the stores of every engine are made with. */
export type StoresOptions = {
  /** `owner/name` of the tracker's repository. */
  repository: string;
  /** Encrypts the bytes of events. */
  payloadKey: Buffer;
  clock: Clock;
};

/** The ports of one store. Each is made when it is asked for: a command needs few of them. */
export type Stores = {
  consumers(): ConsumerStore;
  audit(): AuditReader;
  idempotency(): IdempotencyStore;
  /** Loaded for those who have an issuer, as are `sessions`. */
  artifacts(): Promise<ArtifactStore>;
  /** Another one takes what this one appends for changes of another instance. */
  changes(): ChangeLog;
  claims(): ClaimStore;
  directory(): LeadDirectory;
  outcomeCounts(): OutcomeCounts;
  receipts(): ReceiptStore;
  sessions(): Promise<SessionStore>;
  traffic(): TrafficStore;
  work(): WorkStore;
  workerLock(): WorkerLock;
};

/** A store that is open and has the newest schema, whatever engine it has. */
export type OpenStore = {
  stores(options: StoresOptions): Stores;
  /** Whether deliveries can be stored. */
  writes: WriteCheck;
  /**
   * By which it knows the `secretKey` that it was filled with: with none yet, that is the offered one from now
   * on. Of several that are offered at once one is taken. @throws {store-unavailable}
   */
  fingerprint(offered?: Buffer): Promise<Buffer | undefined>;
  /** Every migration that it has. @throws {store-unavailable} */
  readApplied(): Promise<readonly AppliedMigration[]>;
  /** What its server is; only where it has one. @throws {store-unavailable} */
  readServer?(): Promise<ServerFacts>;
  /** What was applied just now. */
  migrated: readonly Migration[];
  /** Resolves when all that was asked for is written. */
  close(): Promise<void>;
};

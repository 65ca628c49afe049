import type { KeyObject } from 'node:crypto';
import { createTimedIds } from '#shared/ids.ts';
import type { PartnerRefusal } from '#shared/outcomes/callers.ts';
import type { CursorSealer } from '#shared/pagination/page.ts';
import { acceptDelivery, type Delivery, type Intake } from './intake/accept-delivery.ts';
import {
  type PartnerRequest,
  refusalOfUnread,
  type UnreadRequest,
  verifyRequest,
} from './intake/signed-request.ts';
import type { Partner } from './partner.ts';
import { listPartners } from './list-partners.ts';
import { createReceiptPurger } from './receipts/purge-receipts.ts';
import { createStatusTokens, readCertifiedStatus, readStatus } from './receipts/status.ts';
import {
  type CertificateSigner,
  type OpenReaders,
  readCertificate,
} from './receipts/certificate.ts';
import { createOutcomeReader } from './receipts/recent-outcomes.ts';
import { createReceipts } from './receipts/receipts.ts';
import type { Receipt } from './receipts/receipt.ts';
import { createReceiptWriter } from './intake/write-receipts.ts';
import { createOutcomeReporter, type OutcomeCounter } from './receipts/report-outcomes.ts';
import { createSilenceWatch, type Hearing, readSilences } from './silence.ts';
import type { Traffic } from './traffic.ts';
import {
  type BackgroundWork,
  createBackgroundWork,
  type WorkerLease,
} from './worker/background-work.ts';
import {
  readWorkCounts,
  createEventWorker,
  type EventWorker,
  type WorkerStatus,
  type Workplace,
} from './worker/worker.ts';

/** Whatever the worker works with, and what the other use cases need besides. */
type PartnersOptions = Workplace & {
  /** Settles as the write of a receipt does, of which it takes note. */
  watchWrite: <T>(write: Promise<T>) => Promise<T>;
  workerLease: WorkerLease;
  /** Latest time of creation of a lead of this moment, by the tracker's clock; ms since the Unix epoch. */
  latestCreation: () => number;
  /** The time by the tracker's clock or this machine's, whichever is behind; undefined until the former is known. */
  earliestNow: () => number | undefined;
  /** Finds out what time it is at the tracker, unless that is known; called every two seconds. */
  learnTime: () => void;
  traffic: Pick<Traffic, 'record' | 'read'>;
  hearing: Omit<Hearing, 'close'>;
  cursors: CursorSealer;
  /** The sub-key that status addresses are sealed with: 32 bytes. */
  statusKey: KeyObject;
  certificates: CertificateSigner;
  openReaders: OpenReaders;
  /** Counts outcomes of events. */
  countOutcome: OutcomeCounter;
};

/** The use cases of partners. Each is documented, with the codes that it throws, where it stands. */
export type Partners = ReturnType<typeof createPartners>;

/** Nothing works before `start`. */
export function createPartners(options: PartnersOptions) {
  const { db, partners, repository, sealer, cursors, openReaders, certificates } = options;
  const { clock, log, traffic, hearing, filler } = options;
  const reporter = createOutcomeReporter({ log, count: options.countOutcome });
  const worker = createEventWorker(options, reporter);
  const background = createBackground(options, worker);
  const wakeWorker = (): void => worker.wake();
  const silences = () => readSilences({ partners: partners(), hearing, clock });
  const intake = createIntake(options, { reporter, wakeWorker });
  const tokens = createStatusTokens(options.statusKey, clock);
  const certified = { db, repository, sealer, clock, openReaders };
  return {
    refusalOfUnread: (request: UnreadRequest) =>
      refusalOfUnread({ partners: partners(), clock }, request),
    /** A verified request goes into the record of traffic. */
    verify: (request: PartnerRequest) => {
      const verdict = verifyRequest({ partners: partners(), clock }, request);
      if (verdict.kind === 'verified')
        traffic.record(verdict.partner.id, 'verified', verdict.digest);
      return verdict;
    },
    /** Puts a request that was refused into the record of traffic. */
    recordRefusal: ({ id }: Partner, reason: PartnerRefusal) =>
      traffic.record(id, 'refused', reason),
    list: () => listPartners({ partners: partners(), traffic, silences, clock }),
    /** See `readSilences`. @throws {store-unavailable} */
    silences,
    accept: async (delivery: Delivery) => {
      const accepted = await acceptDelivery(intake, delivery);
      hearing.note(delivery.partner.id);
      return accepted;
    },
    /** The token of a receipt's status address. */
    statusTokenOf: (receipt: Pick<Receipt, 'id' | 'receivedAt'>) => tokens.seal(receipt),
    readStatus: (token: string) => readStatus({ db, tokens, clock }, token),
    /** Status as claims of a certificate, which `sign` makes of them. */
    readCertifiedStatus: (token: string, issuer: string) =>
      readCertifiedStatus({ ...certified, tokens }, token, issuer),
    /** Claims of a certificate for somebody who may know names. @throws {store-unavailable} */
    readCertificate: (id: string, issuer: string) => readCertificate(certified, { id, issuer }),
    certificates,
    receipts: createReceipts({ db, cursors, clock, wakeWorker }),
    /** Outcomes of events that came in lately. @throws {store-unavailable} */
    recentOutcomes: createOutcomeReader({ db, clock }),
    /** @throws {store-unavailable} */
    workerStatus: () => readWorkerStatus(worker, background),
    /** Starts the worker, the crawl and the purge, or stands by. @throws {store-unavailable} */
    start: () => background.start(),
    /** Finishes the step that is under way and gives the rest back. Idempotent. */
    stop: () => background.stop(),
    /** To be called after the settings were replaced: the first partner needs the directory, and a new credential is tried. */
    onReload: () => {
      if (background.state() !== 'working') return;
      filler.start();
      worker.probeNow();
    },
  };
}

/** Takes deliveries that were verified, each durable before it is answered. */
function createIntake(
  options: PartnersOptions,
  { reporter, wakeWorker }: Pick<Intake, 'reporter' | 'wakeWorker'>,
): Intake {
  const write = createReceiptWriter(options.db, options);
  return {
    ...options,
    reporter,
    wakeWorker,
    writeReceipt: (receipt) => options.watchWrite(write(receipt)),
    newId: createTimedIds(options.clock),
  };
}

/**
 * Whatever goes on by itself, in the one process that works on the store. Its `start` is that of the jobs where this
 * instance gets the lease, which it always does on SQLite; else `standBy` is called every two seconds until it gets it.
 */
function createBackground(
  {
    db,
    partners,
    filler,
    hearing,
    earliestNow,
    learnTime,
    workerLease,
    clock,
    log,
  }: PartnersOptions,
  worker: EventWorker,
): BackgroundWork {
  const onDropped = (): void => worker.noteDropped();
  const purger = createReceiptPurger({ db, earliestNow, onDropped, clock, log });
  const silence = createSilenceWatch({ partners, hearing, clock, log });
  const jobs = {
    start: async () => {
      await worker.start();
      filler.start();
      purger.start();
      silence.start();
    },
    standBy: async () => {
      // Deliveries to this process are stamped by the tracker's time, and nothing else here may ask for it.
      if (partners().all().length > 0) learnTime();
      await filler.readStatus();
      const { lackedPartners } = await readWorkCounts(db);
      return partners()
        .all()
        .some(({ id }) => lackedPartners.includes(id));
    },
    stop: async () => {
      await Promise.all([worker.stop(), filler.stop(), purger.stop(), silence.stop()]);
    },
  };
  return createBackgroundWork({ lease: workerLease, jobs, clock, log });
}

/** The worker of a process that stands by was never started, which would read as stopped. */
async function readWorkerStatus(
  worker: EventWorker,
  background: BackgroundWork,
): Promise<WorkerStatus> {
  const status = await worker.status();
  return background.state() === 'standby' ? { ...status, state: 'standby' } : status;
}

import { z } from 'zod';
import { setImmediate } from 'node:timers/promises';
import { OF_REPOSITORY } from '#leads/claims/claim-view.ts';
import type { RemovalReaders } from '#leads/lead-feed/told-stretches.ts';
import type { StoredRepositoryName } from '#leads/lead-store.ts';
import { type Clock, SECOND, toRfc3339 } from '#shared/clock.ts';
import type { Sealer } from '#shared/crypto/sealer.ts';
import type { Statements } from '#shared/database.ts';
import {
  toldErasure,
  erasures,
  openDigest,
  type Outcome,
  outcomes,
  type ReceiptEventDetail,
} from './receipt.ts';
import { remainsOut, repeatsOut } from './receipt-out.ts';

/** `typ` in the header of a certificate. */
export const CERTIFICATE_TYPE = 'erasure-receipt+jwt';

const instant = z.iso.datetime().optional();

/** The last that a `Date` holds. */
const TIME_SECONDS_MAX = 8.64e12;

/** The claims of an erasure certificate (RFC 7519). No personal data, no names, no numbers of issues. */
export const certificateClaims = z.object({
  iss: z.string(),
  /** Seconds since the Unix epoch, to the millisecond: all that is said is so by then. */
  iat: z.number().min(0).max(TIME_SECONDS_MAX),
  /** The receipt. */
  jti: z.uuid(),
  /** The partner. */
  sub: z.string(),
  events: z
    .array(
      z.object({
        position: z.int(),
        eventType: z.string().optional(),
        eventId: z.string().optional(),
        digest: z.string().optional(),
        receivedAt: z.iso.datetime(),
        claimedAt: instant,
        releasedAt: instant,
        outcome: z.enum(outcomes),
        erasure: z.enum(erasures).optional(),
        remains: remainsOut.optional(),
        completedAt: instant,
        /** Of the consumers that could ever read one of the leads it still holds. */
        readers: z
          .object({
            couldRead: z.int(),
            following: z.int(),
            past: z.int(),
            lastPastAt: instant,
          })
          .optional(),
      }),
    )
    .readonly(),
  repeats: repeatsOut.optional(),
});

/** A certificate on the wire: the JSON of the claims is its second part. */
export const certificateOut = z.string().meta({
  id: 'ErasureCertificate',
  description:
    'A JWS in its compact form (RFC 7515). Its claims: `iss` (this instance), `iat`, `jti` (the receipt), `sub` (the partner), and `events`, each with `position`, `eventType`, `eventId`, `digest` (SHA-256 in hex of its bytes in the body that was accepted first), `receivedAt`, `claimedAt`, `releasedAt`, `outcome`, `erasure`, `completedAt`, `remains` and `readers` (`couldRead`: how many consumers could ever read one of its leads; `following`: how many of these hold a feed cursor that is good; `past`: how many of those have read past the removal; `lastPastAt`: when the last one did); what is not known is left out.',
});

export type CertificateClaims = z.infer<typeof certificateClaims>;

/** Port: whose signatures anybody can check. */
export type CertificateSigner = {
  /** A JWS in its compact form. @throws {store-unavailable} the key could not be noted as used */
  sign(claims: CertificateClaims): Promise<string>;
  /** Every key that was ever used, and the one that is used now. @throws {store-unavailable} */
  keys(): Promise<CertificateKeys>;
};

/** A set of public keys (RFC 7517). */
export const certificateKeys = z
  .object({
    keys: z
      .array(
        z.object({
          kty: z.literal('OKP'),
          crv: z.literal('Ed25519'),
          x: z.string(),
          kid: z.string(),
          use: z.literal('sig'),
          alg: z.literal('EdDSA'),
        }),
      )
      .readonly(),
  })
  .meta({ id: 'CertificateKeys', description: 'A JSON Web Key Set (RFC 7517).' });

type CertificateKeys = z.infer<typeof certificateKeys>;

/** Result of the check of a file. */
export type CertificateVerdict =
  | { isGood: true; kid: string; claims: CertificateClaims }
  | { isGood: false; reason: 'not-a-certificate' | 'unknown-key' | 'altered'; detail: string };

const READ = `
  SELECT number, partner_id, received_at, repeats FROM receipt WHERE id = @id`;

/** All at one moment, so that what is released is not said to be only claimed. */
const READ_EVENTS = `
  SELECT position, event_type, event_id, outcome, erasure, remains, completed_at, digest, due_at,
    coalesce(
      (SELECT max(claimed_at) FROM claim WHERE claim.event = event.id AND released_at IS NULL),
      (SELECT max(claimed_at) FROM claim WHERE claim.event = event.id)) AS claimed_at,
    (SELECT max(released_at) FROM claim WHERE claim.event = event.id) AS released_at,
    (SELECT jsonb_agg(number) FROM claim
     WHERE claim.event = event.id AND released_at IS NULL AND ${OF_REPOSITORY}) AS held
  FROM event WHERE receipt = @number ORDER BY position`;

type ReceiptRow = { number: number; partnerId: string; receivedAt: number; repeats?: string };

type EventRow = Pick<
  ReceiptEventDetail,
  'position' | 'eventType' | 'eventId' | 'erasure' | 'completedAt' | 'dueAt'
> & {
  outcome: Outcome;
  remains?: string;
  digest?: Buffer;
  claimedAt?: number;
  releasedAt?: number;
  held?: string;
};

/** The receipts of an instance, and the readers of their leads. */
export type CertifiedReceipts = {
  db: Statements;
  /** Of its leads it is known who reads them. */
  repository: StoredRepositoryName;
  sealer: Pick<Sealer, 'open'>;
  clock: Pick<Clock, 'now'>;
  openReaders: OpenReaders;
};

/** Tells of leads that are gone who could read them, as it is known at the call. @throws {store-unavailable} */
export type OpenReaders = () => Promise<
  (numbers: readonly number[]) => Promise<RemovalReaders | undefined>
>;

export type Certificate = {
  /** True now. */
  claims: CertificateClaims;
  /** The earliest time at which an open event is worked on; milliseconds since the Unix epoch. */
  nextDueAt?: number;
  /** Names of consumers that follow the feed and are not known to have read past all removals. */
  behind: readonly string[];
};

/**
 * Claims about a receipt, to be signed by `issuer`; undefined when there is no such receipt.
 * @throws {store-unavailable}
 */
export async function readCertificate(
  { db, repository, sealer, clock, openReaders }: CertifiedReceipts,
  { id, issuer }: { id: string; issuer: string },
): Promise<Certificate | undefined> {
  const receipt = await db.get<ReceiptRow>(READ, { id });
  if (!receipt) return undefined;
  const readersOf = await openReaders();
  const rows = await db.all<EventRow>(READ_EVENTS, { ...receipt, repository });
  const events = [];
  for (const row of rows) {
    const held = (fromJson(row.held) ?? []) as readonly number[];
    const readers = held.length > 0 ? await readersOf(held) : undefined;
    events.push({ event: toEvent(row, { sealer, receiptId: id, ...receipt }), readers });
    await setImmediate();
  }
  const repeats = fromJson(receipt.repeats) as CertificateClaims['repeats'];
  const claims: CertificateClaims = {
    iss: issuer,
    iat: clock.now() / SECOND,
    jti: id,
    sub: receipt.partnerId,
    events: events.map(({ event, readers }) => ({ ...event, ...toReaders(readers) })),
    ...(repeats && { repeats }),
  };
  const due = rows.flatMap(({ dueAt }) => dueAt ?? []);
  const behind = [...new Set(events.flatMap(({ readers }) => readers?.behind ?? []))];
  return { claims, behind, ...(due.length > 0 && { nextDueAt: Math.min(...due) }) };
}

function toReaders(
  readers: RemovalReaders | undefined,
): Pick<CertificateClaims['events'][number], 'readers'> {
  if (!readers) return {};
  const { behind: _names, lastPastAt, ...counts } = readers;
  return { readers: { ...counts, lastPastAt: toInstant(lastPastAt) } };
}

function toEvent(
  { position, eventType, eventId, outcome, ...row }: EventRow,
  of: { sealer: Pick<Sealer, 'open'>; receiptId: string; receivedAt: number },
): CertificateClaims['events'][number] {
  const { completedAt, claimedAt, releasedAt } = row;
  const remains = fromJson(row.remains) as ReceiptEventDetail['remains'];
  const digest = row.digest && openDigest(of.sealer, { ...of, position }, row.digest);
  const { erasure, ...left } = toldErasure({ completedAt, erasure: row.erasure, remains });
  return {
    position,
    eventType,
    eventId,
    digest: digest?.toString('hex'),
    receivedAt: toRfc3339(of.receivedAt),
    claimedAt: toInstant(claimedAt),
    releasedAt: toInstant(releasedAt),
    outcome,
    erasure,
    completedAt: toInstant(completedAt),
    ...left,
  };
}

function fromJson(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text);
}

function toInstant(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : toRfc3339(ms);
}

const NOTE_KEY = `
  INSERT INTO certificate_key (kid, x, first_used_at) VALUES (@kid, @x, @now)
  ON CONFLICT (kid) DO NOTHING`;

const KEYS = 'SELECT kid, x FROM certificate_key ORDER BY first_used_at DESC, kid';

/** A public key as it is stored: the rest of it is always the same. */
export type CertificateKey = { kid: string; x: string };

/** Before a key signs for the first time: it stays in the set then. @throws {store-unavailable} */
export async function noteKeyUsed(
  db: Statements,
  { kid, x }: CertificateKey,
  now: number,
): Promise<void> {
  await db.run(NOTE_KEY, { kid, x, now });
}

/** The latest first, from `own` on, which may not have been used yet. @throws {store-unavailable} */
export async function readKeys(db: Statements, own?: CertificateKey): Promise<CertificateKeys> {
  const used = await db.all<CertificateKey>(KEYS);
  const others = used.filter(({ kid }) => kid !== own?.kid);
  return {
    keys: [...(own ? [own] : []), ...others].map(({ kid, x }) => ({
      kty: 'OKP',
      crv: 'Ed25519',
      x,
      kid,
      use: 'sig',
      alg: 'EdDSA',
    })),
  };
}

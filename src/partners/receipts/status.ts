import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { type Clock, DAY, SECOND, toRfc3339 } from '#shared/clock.ts';
import { hmacSha256 } from '#shared/crypto/hash.ts';
import { TrackportError } from '#shared/errors.ts';
import {
  toldErasure,
  type PartnerPath,
  type Receipt,
  type ReceiptEventDetail,
  receiptStatuses,
  whyOf,
} from './receipt.ts';
import { noteOut, outcomeFields, repeatsOut } from './receipt-out.ts';
import { readReceipt } from './read-receipts.ts';
import { type CertificateClaims, type CertifiedReceipts, readCertificate } from './certificate.ts';
import type { Statements } from '#shared/database.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const INSTANT_BYTES = 6;
/** Longer than any token of ours. */
const TOKEN_CHARACTERS_MAX = 256;
const LIFETIME_MS = 30 * DAY;

/** Seals receipts into tokens that nobody can guess, and that need no credential beside them. */
export type StatusTokens = {
  /** Always the same for one receipt. */
  seal(receipt: Pick<Receipt, 'id' | 'receivedAt'>): string;
  /** The receipt's id; undefined for a token that was altered, or 30 days after the receipt. */
  open(token: string): string | undefined;
};

/**
 * AES-256-GCM over the receipt's instant and id. The nonce is a MAC of both, as in RFC 8452, so that a
 * receipt has one token, and no two receipts have one nonce. `key` is a sub-key of 32 bytes.
 */
export function createStatusTokens(key: KeyObject, clock: Pick<Clock, 'now'>): StatusTokens {
  const sealKey = createSecretKey(hmacSha256(key, 'seal'));
  const nonceKey = createSecretKey(hmacSha256(key, 'nonce'));
  return {
    seal: ({ id, receivedAt }) => {
      const plain = Buffer.concat([toBytes(receivedAt), Buffer.from(id)]);
      const nonce = hmacSha256(nonceKey, plain).subarray(0, NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealKey, nonce);
      const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
    },
    open: (token) => {
      const plain = decrypt(sealKey, token);
      if (plain === undefined) return undefined;
      const receivedAt = plain.readUIntBE(0, INSTANT_BYTES);
      if (clock.now() >= receivedAt + LIFETIME_MS) return undefined;
      return plain.subarray(INSTANT_BYTES).toString();
    },
  };
}

function toBytes(instant: number): Buffer {
  const bytes = Buffer.alloc(INSTANT_BYTES);
  bytes.writeUIntBE(instant, 0, INSTANT_BYTES);
  return bytes;
}

function decrypt(key: ReturnType<typeof createSecretKey>, token: string): Buffer | undefined {
  if (token.length > TOKEN_CHARACTERS_MAX) return undefined;
  const bytes = Buffer.from(token, 'base64url');
  const head = NONCE_BYTES + TAG_BYTES;
  // Base64 has several spellings of the same bytes; a token has one.
  if (bytes.toString('base64url') !== token || bytes.length <= head + INSTANT_BYTES)
    return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  }).setAuthTag(bytes.subarray(NONCE_BYTES, head));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(head)), decipher.final()]);
  } catch {
    return undefined;
  }
}

const RETRY_AFTER_SECONDS_MIN = 1;
const RETRY_AFTER_SECONDS_MAX = 3600;

/** Status of a delivery, for whoever has its status address. */
export const receiptStatusOut = z
  .object({
    id: z.uuid().describe('The receipt’s.'),
    status: z.enum(receiptStatuses),
    events: z
      .array(
        z.object({
          position: z.int().min(0).describe('In the delivery, from 0; repeats leave gaps.'),
          eventType: z.string().optional().describe('As it was sent.'),
          eventId: z.string().optional(),
          ...outcomeFields,
          note: noteOut.optional().describe('As on the receipt.'),
          lastError: z.string().optional().describe('Why it ended so: a code, as on the receipt.'),
          completedAt: z.iso.datetime().optional(),
        }),
      )
      .readonly(),
    repeats: repeatsOut.optional(),
  })
  .meta({ id: 'ReceiptStatus', description: 'What became of a delivery.' });

type StatusEvent = z.infer<typeof receiptStatusOut>['events'][number];

export type StatusResponse = {
  status: z.infer<typeof receiptStatusOut>;
  /** There while work is under way: when it makes sense to ask again. */
  retryAfterSeconds?: number;
};

/**
 * Reads the status of the delivery behind a status address. Every token that is of no use gets the same
 * response, and no look-up. @throws {not-found} @throws {store-unavailable}
 */
export async function readStatus(
  {
    db,
    tokens,
    clock,
  }: { db: Statements; tokens: Pick<StatusTokens, 'open'>; clock: Pick<Clock, 'now'> },
  token: string,
): Promise<StatusResponse> {
  const report = (await readReceipt(db, openToken(tokens, token))) ?? refuseToken();
  const { events, path, repeats } = report;
  const status = {
    id: report.id,
    status: report.status,
    events: events.map((event) => toStatusEvent(path, event)),
    ...(repeats && { repeats }),
  };
  const due = events.flatMap(({ dueAt }) => dueAt ?? []);
  if (due.length === 0) return { status };
  return { status, retryAfterSeconds: secondsUntil(Math.min(...due) - clock.now()) };
}

/** Reads the same as claims to be signed. @throws {not-found} @throws {store-unavailable} */
export async function readCertifiedStatus(
  receipts: CertifiedReceipts & { tokens: Pick<StatusTokens, 'open'> },
  token: string,
  issuer: string,
): Promise<{ claims: CertificateClaims; retryAfterSeconds?: number }> {
  const id = openToken(receipts.tokens, token);
  const { claims, nextDueAt } = (await readCertificate(receipts, { id, issuer })) ?? refuseToken();
  if (nextDueAt === undefined) return { claims };
  return { claims, retryAfterSeconds: secondsUntil(nextDueAt - receipts.clock.now()) };
}

/** The receipt's id. @throws {not-found} */
function openToken(tokens: Pick<StatusTokens, 'open'>, token: string): string {
  return tokens.open(token) ?? refuseToken();
}

function refuseToken(): never {
  throw new TrackportError('not-found', {
    detail: 'This is no status address, or it is more than 30 days old.',
  });
}

/** Without personal data, and without issue numbers. */
function toStatusEvent(path: PartnerPath, event: ReceiptEventDetail): StatusEvent {
  const { position, eventType, eventId, outcome, note, completedAt } = event;
  return {
    position,
    eventType,
    eventId,
    outcome,
    ...toldErasure(event),
    ...(completedAt !== undefined && {
      note,
      lastError: whyOf(path, event),
      completedAt: toRfc3339(completedAt),
    }),
  };
}

function secondsUntil(ms: number): number {
  const seconds = Math.ceil(ms / SECOND) + 1; // what is due takes a moment
  return Math.min(RETRY_AFTER_SECONDS_MAX, Math.max(RETRY_AFTER_SECONDS_MIN, seconds));
}

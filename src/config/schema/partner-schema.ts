import { z } from 'zod';

import type { Secret } from '#shared/crypto/secret.ts';

import {
  flag,
  headerName,
  instant,
  integer,
  line,
  list,
  pointers,
  secret,
  word,
} from './values.ts';

const action = word(['relabel', 'close', 'comment', 'redact', 'delete']);
const actions = list(action, 'actions', { min: 1, max: 5 });

const partnerSecret = z.union(
  [
    secret().transform((value): { value: Secret } => ({ value })),
    z
      .strictObject({
        value: secret(),
        notBefore: instant().optional(),
        notAfter: instant().optional(),
      })
      .transform(({ value, notBefore, notAfter }) => ({
        value,
        ...(notBefore !== undefined && { notBefore }),
        ...(notAfter !== undefined && { notAfter }),
      })),
  ],
  { error: 'a secret, or { value, notBefore, notAfter }' },
);

const fields = z.strictObject(
  {
    eventType: pointers().optional(),
    eventId: pointers().optional(),
    externalId: pointers().optional(),
    account: pointers().optional(),
    leadId: pointers().optional(),
    correlationId: pointers().optional(),
    email: pointers().optional(),
    occurredAt: pointers().optional(),
  },
  { error: sectionError('JSON Pointers by field') },
);

const deletions = z.strictObject(
  {
    types: list(line('an event type, or *'), 'event types').optional(),
    actions: actions.optional(),
    privacy: actions.optional(),
  },
  { error: sectionError('a section with keys') },
);

const merges = z.strictObject(
  {
    types: list(line('an event type'), 'event types').optional(),
    from: pointers().optional(),
    to: pointers().optional(),
  },
  { error: sectionError('a section with keys') },
);

/** One partner. What is left out gets the default of its scheme from the partners themselves. */
export const partner = z.strictObject(
  {
    scheme: word(['hmac-sha256', 'signature-v3']),
    secrets: list(partnerSecret, 'secrets', { min: 1, max: 10 }),
    headers: z
      .strictObject(
        { signature: headerName().optional(), timestamp: headerName().optional() },
        { error: sectionError('header names: signature, timestamp') },
      )
      .optional(),
    fields: fields.optional(),
    deletions: deletions.optional(),
    merges: merges.optional(),
    enabled: flag().prefault(true),
    requireBearer: flag().prefault(false),
    limitPerMinute: integer(1, 1_000_000).optional(),
  },
  { error: sectionError('a section with keys') },
);

function sectionError(allowed: string) {
  return (issue: { code?: string }): string | undefined =>
    issue.code === 'invalid_type' ? allowed : undefined;
}

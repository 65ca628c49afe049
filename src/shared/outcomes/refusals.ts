import type { OutcomeEntry } from './entry.ts';

/** RefusalWords of a signed call, with whose mistake it most likely is. Never for the response. */
export type RefusalWords = Pick<OutcomeEntry, 'title' | 'next'>;

const table = <Code extends string>(entries: Readonly<Record<Code, RefusalWords>>) => entries;

/** Calls of a partner that is known. */
export const partnerRefusals = table({
  'signature-missing': {
    title: 'Signature missing',
    next: 'Its sender does not set the signature header.',
  },
  'signature-malformed': {
    title: 'Signature malformed',
    next: 'Its sender uses another scheme, or writes the header otherwise.',
  },
  'signature-wrong': {
    title: 'Signature wrong',
    next: 'Another secret, or something between changes the body, or the address where it is signed.',
  },
  'secret-expired': {
    title: 'Secret has ended',
    next: 'The partner still signs with the old secret: it has to take the new one.',
  },
  'secret-not-yet-active': {
    title: 'Secret not active yet',
    next: 'The partner signs with the new secret too early: move its notBefore forward.',
  },
  'timestamp-malformed': {
    title: 'Timestamp malformed',
    next: 'Its sender must send the time once, in the unit of its scheme: see how partners sign.',
  },
  'timestamp-outside-window': {
    title: 'Timestamp too far off',
    next: 'One of the two clocks is wrong, or calls lie in a queue for longer than the scheme allows.',
  },
  bearer: {
    title: 'Bearer token refused',
    next: 'Its signature was good: it needs a token of the issuer beside it.',
  },
  limit: {
    title: 'Over its limit',
    next: 'It calls more often than limitPerMinute allows: spread the calls, or raise the limit.',
  },
});

export type PartnerRefusal = keyof typeof partnerRefusals;

/** Deliveries of the tracker's webhook. */
export const webhookRefusals = table({
  'signature-missing': {
    title: 'Signature missing',
    next: 'Check the secret: the webhook has none. Give it one of tracker.webhookSecrets; then redeliver.',
  },
  'signature-malformed': {
    title: 'Signature malformed',
    next: 'See what stands between the tracker and this service: it changes the headers.',
  },
  'signature-wrong': {
    title: 'Signature wrong',
    next: 'Check the secret: the webhook’s must be one of tracker.webhookSecrets; then redeliver.',
  },
  'content-type': {
    title: 'Wrong content type',
    next: 'Set the webhook’s content type to application/json; then redeliver.',
  },
  'too-large': {
    title: 'Over 25 MiB',
    next: 'Nothing is lost: the tracker is asked again in time.',
  },
  malformed: {
    title: 'Not JSON',
    next: 'Its signature is good: see what made the body, and redeliver.',
  },
});

export type WebhookRefusal = keyof typeof webhookRefusals;

/** Consumers, partners and the tracker as callers: how they stand, and why a signed call is refused. */
import type { OutcomeEntry, Standing } from './entry.ts';

/** State of a caller, by its last calls and its secrets. */
export type CallerState = Standing & Partial<Pick<OutcomeEntry, 'next'>>;

/** The gravest thing about a partner. */
export const partnerStates = {
  disabled: { urgency: 'mute', title: 'Disabled' },
  'without-secret': {
    urgency: 'bad',
    title: 'No active secret',
    next: 'Add a secret below this partner in the configuration: until then all its calls are refused.',
  },
  'without-active-secret': {
    urgency: 'bad',
    title: 'No active secret',
    next: 'None of its secrets is active now, so all its calls are refused. Check notBefore and notAfter.',
  },
  'last-refused': { urgency: 'bad', title: 'Last call refused', next: 'Talk to its sender' },
  'fallen-silent': {
    urgency: 'warn',
    title: 'Silent',
    next: 'See at the partner whether its webhook is on, and what it says of its last calls; then bring in what was missed with trackport receipt import.',
  },
  'secret-ending': {
    urgency: 'warn',
    title: 'Secret ends soon',
    next: 'Every secret that works ends within 14 days. Agree on a new one and add it beside the old.',
  },
  silent: { urgency: 'wait', title: 'Nothing in 7 days' },
  'some-refused': { urgency: 'warn', title: 'Some refused' },
  receiving: { urgency: 'ok', title: 'Receiving' },
} as const satisfies Readonly<Record<string, CallerState>>;

/** A secret of a partner. */
export const secretStates = {
  expired: { urgency: 'mute', title: 'Ended' },
  'not-yet-active': { urgency: 'wait', title: 'Not active yet' },
  ending: { urgency: 'warn', title: 'Ends soon' },
  active: { urgency: 'ok', title: 'Active' },
} as const satisfies Readonly<Record<string, CallerState>>;

/** Callers that need a person: in a word of one of them, and as a heading of one and of many. */
export const callerNeeds = {
  'partner-refused': {
    urgency: 'bad',
    headings: ['A partner is refused', 'partners are refused'],
  },
  'partner-silent': {
    urgency: 'warn',
    headings: ['A partner has fallen silent', 'partners have fallen silent'],
  },
  'key-ending': {
    urgency: 'warn',
    title: 'Key ends',
    headings: ['A key in use ends soon', 'keys in use end soon'],
    next: 'Rotate it: the old one goes on for the overlap.',
    nextIfReplaced: 'It was replaced, and is still in use: bring the new one to its consumer.',
  },
  'without-key': {
    urgency: 'warn',
    title: 'No key',
    headings: ['A consumer has no key', 'consumers have no key'],
    next: 'Add a key, or revoke the consumer: nobody can read as it.',
  },
} as const;

/** RefusalWords of a signed call, with whose mistake it most likely is. Never for the response. */
export type RefusalWords = Pick<OutcomeEntry, 'title' | 'next'>;

const refusalTable = <Code extends string>(entries: Readonly<Record<Code, RefusalWords>>) =>
  entries;

/** Calls of a partner that is known. */
export const partnerRefusals = refusalTable({
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
export const webhookRefusals = refusalTable({
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

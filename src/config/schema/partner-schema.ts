import { z } from 'zod';

import { DAY, SECOND } from '#shared/clock.ts';
import type { Secret } from '#shared/crypto/secret.ts';

import {
  duration,
  fieldNames,
  flag,
  headerName,
  instant,
  integer,
  labelName,
  line,
  list,
  named,
  pointers,
  section,
  shaped,
  word,
} from './values.ts';
import { secret } from './secrets.ts';

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
      .transform(({ value, notBefore, notAfter }) => ({ value, notBefore, notAfter })),
  ],
  { error: 'a secret, or { value, notBefore, notAfter }' },
);

const pairName = () => shaped(/^[\w.-]+$/, 'the name of a pair, such as t or v1');

/** The form of scheme `hmac`. */
const signature = section({
  header: headerName(),
  algorithm: word(['sha256', 'sha512']).prefault('sha256'),
  encoding: word(['hex', 'base64']).prefault('hex'),
  prefix: shaped(/^[\x20-\x2b\x2d-\x7e]*$/, 'printable ASCII without a comma').prefault(''),
  pairs: section(
    { timestamp: pairName().optional(), signature: pairName() },
    'names of pairs: timestamp, signature',
  ).optional(),
  content: shaped(
    /^(?=[^]*\{body\})(?:[^{}]|\{(?:body|timestamp|method|url)\})*$/,
    'a text with {body} in it, else the body could be changed, and no braces but those of {body}, {timestamp}, {method} and {url}',
  ).prefault('{body}'),
  timestamp: section({
    header: headerName().optional(),
    unit: word(['s', 'ms']).prefault('s'),
    tolerance: duration(SECOND, DAY).prefault('5m'),
  }).optional(),
});

const fields = section(
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
  'JSON Pointers by field',
);

const deletions = section({
  types: list(line('an event type, or *'), 'event types').optional(),
  actions: actions.optional(),
  privacy: actions.optional(),
});

const merges = section({
  types: list(line('an event type'), 'event types').optional(),
  from: pointers().optional(),
  to: pointers().optional(),
});

const labelNames = list(labelName(), 'label names', { min: 1 });
const login = shaped(/^[\w-]{1,60}(?:\[bot\])?$/, 'a login');
// https://docs.github.com/en/rest/issues/assignees
const logins = list(login, 'logins', { min: 1, max: 10 });
const COMMENT_CHARACTERS_MAX = 10_000;

// https://docs.github.com/en/rest/issues/issue-field-values
const FIELDS_MAX = 25;
const FIELDS_ALLOWED = `values by names of leads.issueFields, at most ${FIELDS_MAX}`;
const OPTION = 'the name of an option';
const fieldInput = z.union([line(), z.number(), list(line(OPTION), 'options', { min: 1 })], {
  error: 'a text, a number, a date such as "2026-12-01", an option, or a list of options',
});

/** A rule for events: which type, and what it does to the issue. */
const rule = section({
  type: line('an event type, or *'),
  addLabels: labelNames.optional(),
  removeLabels: labelNames.optional(),
  assign: z.union([login, logins], { error: 'a login, or a list of 1 to 10 logins' }).optional(),
  close: flag().optional(),
  reopen: flag().optional(),
  comment: shaped(
    /^(?=[^]*\S)(?:[^{}]|\{(?:partner|type|receiptId|occurredAt)\})*$/,
    'a text with no braces but those of {partner}, {type}, {receiptId} and {occurredAt}',
  )
    .max(COMMENT_CHARACTERS_MAX, { error: `at most ${COMMENT_CHARACTERS_MAX} characters` })
    .optional(),
  setFields: named(fieldInput, fieldNames, FIELDS_ALLOWED)
    .refine((fields) => Object.keys(fields).length <= FIELDS_MAX, { error: FIELDS_ALLOWED })
    .optional(),
  mayApprove: flag().optional(),
});

/** One partner. What is left out gets the default of its scheme from the partners themselves. */
export const partner = section({
  scheme: word(['hmac-sha256', 'signature-v3', 'standard-webhooks', 'hmac']),
  secrets: list(partnerSecret, 'secrets', { min: 1, max: 10 }),
  headers: section(
    {
      signature: headerName().optional(),
      timestamp: headerName().optional(),
      id: headerName().optional(),
    },
    'header names: signature, timestamp, id',
  ).optional(),
  signature: signature.optional(),
  fields: fields.optional(),
  deletions: deletions.optional(),
  merges: merges.optional(),
  events: list(rule, 'rules').optional(),
  enabled: flag().prefault(true),
  requireBearer: flag().prefault(false),
  limitPerMinute: integer(1, 1_000_000).optional(),
  expectEvery: duration(SECOND, 365 * DAY).optional(),
});

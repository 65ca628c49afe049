import { z } from 'zod';
import { DAY, isOnCalendar, SECOND } from '#shared/clock.ts';
import type { Secret } from '#shared/crypto/secret.ts';
import {
  duration,
  fieldNames,
  flag,
  integer,
  labelName,
  line,
  list,
  named,
  section,
  shaped,
  word,
  secret,
} from './values.ts';

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/; // RFC 9110 section 5.1
const POINTER = /^(?:\/(?:[^~/]|~[01])*)+$/; // RFC 6901, without the pointer to everything
const INSTANT =
  /^\d{4}-\d{2}-\d{2}(?:[Tt]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d{2}:\d{2}))?$/;

/** The name of a request header. */
function headerName() {
  return shaped(HEADER_NAME, 'a header name, such as X-Partner-Signature');
}

/** One JSON Pointer, or several of which the first hit wins; none switches the field off. */
function pointers() {
  const error = 'a JSON Pointer such as /eventType, or a list of them';
  const pointer = shaped(POINTER, error);
  return z.union([pointer, z.array(pointer).max(10, { error })], { error });
}

/** A date-time with a zone, or a date (UTC); read as milliseconds since the Unix epoch. */
export function instant() {
  const error = 'a time such as 2026-01-31T00:00:00Z, or a date';
  return shaped(INSTANT, error)
    .transform((text) => (isOnCalendar(text.slice(0, 16)) ? Date.parse(text) : NaN))
    .refine((ms) => !Number.isNaN(ms), { error });
}

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

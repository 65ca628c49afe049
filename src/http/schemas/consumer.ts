import * as z from 'zod';
import { parseDuration } from '#shared/units.ts';
import { paginationOut } from './common.ts';
import { pageParameters } from './page.ts';

const consumerId = z.string().describe('The consumer’s id, a UUID.');

export const consumerParams = z.object({ id: consumerId });

export const keyParams = z.object({
  id: consumerId,
  keyId: z.string().describe('The public part of the key: 12 letters and digits.'),
});

export const consumerListQuery = z.strictObject(pageParameters);

const grantIn = z
  .strictObject({
    action: z.string('must be a text').describe('What the consumer may do: `leads:read`.'),
    labels: z
      .array(z.string('must be a text'), 'must be a list of label names')
      .exactOptional()
      .describe('Only leads that carry all of these labels; at most 10.'),
  })
  .meta({ id: 'GrantIn', examples: [{ action: 'leads:read', labels: ['partner-program'] }] });

const grantsIn = z.array(grantIn, 'must be a list of grants').max(10, 'must be at most 10');

/** A duration as text; what comes out are milliseconds. */
function duration(description: string, example: string) {
  return z
    .string('must be a text')
    .transform((text, context) => {
      const ms = parseDuration(text);
      if (ms !== undefined) return ms;
      const message = `must be a duration such as ${example}`;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .meta({ description, examples: [example] });
}

const expiresIn = duration('When the key expires, from now on; default: never.', '30d');
const limitIn = z.number('must be a number').describe('Calls per minute; default: configured.');
const nameIn = z.string('must be a text').describe('What people call it: 1 to 200 characters.');

export const consumerIn = z
  .strictObject({
    name: nameIn,
    grants: grantsIn.exactOptional(),
    limitPerMinute: limitIn.exactOptional(),
    expires: expiresIn.exactOptional(),
  })
  .meta({
    id: 'ConsumerIn',
    examples: [{ name: 'sales-tool', grants: [{ action: 'leads:read' }], expires: '90d' }],
  });

export const consumerPatch = z
  .strictObject({
    name: nameIn.exactOptional(),
    limitPerMinute: limitIn.nullable().exactOptional().describe('`null` takes the default again.'),
    state: z
      .enum(['active', 'disabled'], 'must be `active` or `disabled`')
      .exactOptional()
      .describe('The keys of a disabled consumer are refused until it is active again.'),
  })
  .meta({ id: 'ConsumerPatch', examples: [{ state: 'disabled' }] });

export const grantsReplace = z
  .strictObject({ grants: grantsIn })
  .meta({ id: 'GrantsIn', examples: [{ grants: [{ action: 'leads:read' }] }] });

export const keyIn = z
  .strictObject({ expires: expiresIn.exactOptional() })
  .meta({ id: 'KeyIn', examples: [{ expires: '30d' }] });

export const rotateIn = z
  .strictObject({
    overlap: duration(
      'How long the old key stays good: `0s` to `30d`, default `24h`.',
      '24h',
    ).exactOptional(),
  })
  .meta({ id: 'RotateIn', examples: [{ overlap: '24h' }] });

const dateTime = z.string().meta({ format: 'date-time' });

export const grantOut = z
  .object({ action: z.string(), labels: z.array(z.string()).readonly().optional() })
  .meta({
    id: 'Grant',
    description: 'With `labels`: only leads that carry all of them. Without: all leads.',
  });

const keyOut = z
  .object({
    keyId: z.string(),
    last4: z.string().describe('The last four characters of the key.'),
    state: z.enum(['active', 'expired', 'revoked']),
    createdBy: z.string(),
    createdAt: dateTime,
    expiresAt: dateTime.optional(),
    revokedAt: dateTime.optional(),
    replacedBy: z.string().optional().describe('The key that a rotation made in its place.'),
    lastUsedAt: dateTime.optional().describe('Up to a minute late.'),
  })
  .meta({ id: 'Key', description: 'A key without its secret.' });

export const consumerOut = z
  .object({
    id: z.string(),
    name: z.string(),
    state: z.enum(['active', 'disabled', 'revoked']),
    limitPerMinute: z.int().optional(),
    grants: z.array(grantOut).readonly(),
    keys: z.array(keyOut).readonly(),
    createdAt: dateTime,
  })
  .meta({ id: 'Consumer', description: 'A machine client with its grants and keys.' });

export const consumerListOut = z
  .object({ items: z.array(consumerOut), pagination: paginationOut })
  .meta({ id: 'ConsumerList' });

const keyText = z.string().describe('The whole key. It is shown here and never again.');

export const createdConsumerOut = z
  .object({
    id: z.string(),
    name: z.string(),
    grants: z.array(grantOut).readonly(),
    key: keyText,
  })
  .meta({ id: 'CreatedConsumer' });

export const newKeyOut = z.object({ key: keyText }).meta({ id: 'NewKey' });

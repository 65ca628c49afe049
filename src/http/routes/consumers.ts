import { z } from 'zod';
import {
  consumerOut,
  createdConsumerOut,
  newKeyOut,
  toConsumerOut,
  toCreatedConsumerOut,
  toNewKeyOut,
} from '#access/consumers/consumer-out.ts';
import {
  type Consumer,
  LIMIT_PER_MINUTE_MAX,
  NAME_CHARACTERS_MAX,
} from '#access/consumers/consumer.ts';
import type { Clock } from '#shared/clock.ts';
import {
  FORBIDDEN_IN_LABEL,
  grantActions,
  grantFaults,
  LABEL_CHARACTERS_MAX,
  LABELS_MAX,
  WORKSPACE_CHARACTERS_MAX,
  WORKSPACE_RULE,
} from '#access/grant.ts';
import { LIFETIME_MS_MAX, OVERLAP_MS_MAX } from '#access/keys/key-rules.ts';
import { isRecord } from '#shared/text/json.ts';
import { DURATION_PATTERN, formatDuration, parseDuration } from '#shared/text/units.ts';
import { paginationOut } from '#shared/pagination/page.ts';
import { isPlainLine } from '#shared/text/visible.ts';
import { originOf, requireBearer } from '../auth/bearer.ts';
import { linkNext, uncached } from '../responses/headers.ts';
import type { BearerContext, HttpApp } from '../context.ts';
import { describeRoute } from '../route.ts';
import { pageQuery } from '../requests/parameters.ts';

const PATH = '/api/v1/consumers';

/** Consumers with their grants and keys, for operators. Every change is in the audit log. */
export function consumerRoutes(app: HttpApp, context: BearerContext): void {
  requireBearer(app, context);
  addReads(app, context);
  addChanges(app, context);
  addKeys(app, context);
}

function addReads(app: HttpApp, context: BearerContext): void {
  const { consumers } = context.access;
  app.get(PATH, routes.list, async (request, reply) => {
    const { items, pagination } = await consumers.page(request.query);
    linkNext(request, reply, { pagination, publicUrl: context.publicUrl() });
    return { items: items.map((consumer) => render(context, consumer)), pagination };
  });
  app.get(`${PATH}/:id`, routes.read, async (request) =>
    render(context, await consumers.read(request.params.id)),
  );
}

function addChanges(app: HttpApp, context: BearerContext): void {
  const { consumers } = context.access;
  app.post(PATH, routes.create, async (request, reply) => {
    const { expires, ...fields } = request.body;
    const created = await consumers.create({ ...fields, expiresInMs: expires }, originOf(request));
    reply.code(201).header('location', `${context.publicUrl()}${PATH}/${created.consumer.id}`);
    return toCreatedConsumerOut(created);
  });
  app.patch(`${PATH}/:id`, routes.update, async (request) => {
    const input = { id: request.params.id, patch: request.body };
    return render(context, await consumers.update(input, originOf(request)));
  });
  app.delete(`${PATH}/:id`, routes.revoke, async (request) =>
    render(context, await consumers.revoke(request.params, originOf(request))),
  );
  app.put(`${PATH}/:id/grants`, routes.grant, async (request) => {
    const input = { id: request.params.id, grants: request.body.grants };
    return render(context, await consumers.replaceGrants(input, originOf(request)));
  });
}

function addKeys(app: HttpApp, context: BearerContext): void {
  const { keys } = context.access;
  app.post(`${PATH}/:id/keys`, routes.addKey, async (request, reply) => {
    const input = { id: request.params.id, expiresInMs: request.body?.expires };
    const made = await keys.add(input, originOf(request));
    reply.code(201);
    return toNewKeyOut(made);
  });
  app.post(`${PATH}/:id/keys/:keyId/rotate`, routes.rotate, async (request) => {
    const input = { ...request.params, overlapMs: request.body?.overlap };
    return toNewKeyOut(await keys.rotate(input, originOf(request)));
  });
  app.delete(`${PATH}/:id/keys/:keyId`, routes.revokeKey, async (request) =>
    render(context, await keys.revoke(request.params, originOf(request))),
  );
}

function render({ clock }: { clock: Pick<Clock, 'now'> }, consumer: Consumer) {
  return toConsumerOut(consumer, clock.now());
}

const consumerId = z.string().meta({ description: 'The consumer’s id.', format: 'uuid' });

const consumerParams = z.object({ id: consumerId });

const keyParams = z.object({
  id: consumerId,
  keyId: z
    .string()
    .meta({ description: 'The public part of the key.', pattern: '^[0-9A-Za-z]{12}$' }),
});

const labelIn = z
  .string('must be a text')
  .trim()
  .min(1, 'must not be empty')
  .max(LABEL_CHARACTERS_MAX, `must have at most ${LABEL_CHARACTERS_MAX} characters`)
  .refine(
    (label) => !FORBIDDEN_IN_LABEL.test(label),
    'must have no comma and no control characters',
  );

const LABELS_RULE = `must name 1 to ${LABELS_MAX} labels, or be left out`;

const grantIn = z
  .strictObject({
    action: z
      .string('must be a text')
      .meta({ description: 'What the consumer may do.', enum: [...grantActions] }),
    labels: z
      .array(labelIn, 'must be a list of label names')
      .min(1, LABELS_RULE)
      .max(LABELS_MAX, LABELS_RULE)
      .optional()
      .describe('Of `leads:read`: only leads that carry all of these labels.'),
    workspace: z
      .string('must be a text')
      .max(WORKSPACE_CHARACTERS_MAX, WORKSPACE_RULE)
      .optional()
      .describe('Of `catalog:read`, which needs it: the workspace whose catalog is read.'),
  })
  .meta({ id: 'GrantIn', examples: [{ action: 'leads:read', labels: ['partner-program'] }] });

const GRANTS_MAX = 10;
const grantsIn = z
  .array(grantIn, 'must be a list of grants')
  .max(GRANTS_MAX, `must be at most ${GRANTS_MAX}`)
  .superRefine(checkGrants, { when: ({ value }) => Array.isArray(value) });

/** Looked at beside all else that is wrong with the grants. */
function checkGrants(grants: readonly unknown[], context: z.RefinementCtx): void {
  const records = grants.map((grant) => (isRecord(grant) ? grant : {}));
  for (const { at, field, code, detail } of grantFaults(records))
    context.addIssue({
      code: 'custom',
      path: [at, field],
      message: detail,
      params: { code },
    });
}

/** A duration as text; what comes out are milliseconds. */
function duration({ min, max, example }: { min: number; max: number; example: string }) {
  const error = `must be a duration from ${formatDuration(min)} to ${formatDuration(max)}, such as ${example}`;
  return z
    .string('must be a text')
    .regex(DURATION_PATTERN, error)
    .transform((text) => parseDuration(text) ?? Number.NaN)
    .refine((ms) => ms >= min && ms <= max, error)
    .meta({ examples: [example] });
}

const expiresIn = duration({ min: 1, max: LIFETIME_MS_MAX, example: '30d' }).describe(
  'When the key expires, from now on; left out: never.',
);
const LIMIT_RULE = `must be a whole number from 1 to ${LIMIT_PER_MINUTE_MAX}`;
const limitIn = z
  .int(LIMIT_RULE)
  .min(1, LIMIT_RULE)
  .max(LIMIT_PER_MINUTE_MAX, LIMIT_RULE)
  .describe('Calls per minute; left out: as configured.');
const NAME_RULE = `must have 1 to ${NAME_CHARACTERS_MAX} characters`;
const nameIn = z
  .string('must be a text')
  .trim()
  .min(1, NAME_RULE)
  .max(NAME_CHARACTERS_MAX, NAME_RULE)
  .refine((name) => isPlainLine(name), 'must have no control characters')
  .describe(
    'What people call it. A name that another consumer has, whatever its case, is refused unless `force` is true; those of revoked ones are free.',
  );

const forceIn = z
  .boolean('must be true or false')
  .describe('Take the name even when another consumer has it.');

const consumerIn = z
  .strictObject({
    name: nameIn,
    force: forceIn.optional(),
    grants: grantsIn.optional(),
    limitPerMinute: limitIn.optional(),
    expires: expiresIn.optional(),
  })
  .meta({
    id: 'ConsumerIn',
    examples: [{ name: 'sales-tool', grants: [{ action: 'leads:read' }], expires: '90d' }],
  });

const consumerPatch = z
  .strictObject({
    name: nameIn.optional(),
    force: forceIn.optional(),
    limitPerMinute: limitIn.nullable().optional().describe('`null` takes the default again.'),
    state: z
      .enum(['active', 'disabled'], 'must be `active` or `disabled`')
      .optional()
      .describe('The keys of a disabled consumer are refused until it is active again.'),
  })
  .meta({ id: 'ConsumerPatch', examples: [{ state: 'disabled' }] });

const grantsReplace = z
  .strictObject({ grants: grantsIn })
  .meta({ id: 'GrantsIn', examples: [{ grants: [{ action: 'leads:read' }] }] });

const keyIn = z
  .strictObject({ expires: expiresIn.optional() })
  .meta({ id: 'KeyIn', examples: [{ expires: '30d' }] });

const rotateIn = z
  .strictObject({
    overlap: duration({ min: 0, max: OVERLAP_MS_MAX, example: '24h' })
      .optional()
      .describe('How long the old key stays good; left out: `24h`.'),
  })
  .meta({ id: 'RotateIn', examples: [{ overlap: '24h' }] });

const consumerListOut = z
  .object({ items: z.array(consumerOut), pagination: paginationOut })
  .meta({ id: 'ConsumerList' });

const common = { tag: 'Consumers', scope: 'trackport:admin', sends: uncached } as const;
const changeProblems = ['not-found', 'invalid-lifecycle-transition'] as const;
const theConsumer = { description: 'The consumer as it is now.', schema: consumerOut };

/** The routes of consumers and their keys, as openapi.json describes them. */
const routes = {
  list: describeRoute({
    ...common,
    operationId: 'listConsumers',
    summary: 'List consumers',
    description: 'Oldest first, those that are revoked among them.',
    request: { querystring: pageQuery },
    ok: { 200: { description: 'One page of consumers.', schema: consumerListOut } },
    headers: ['Link'],
    problems: ['invalid-cursor'],
  }),
  create: describeRoute({
    ...common,
    operationId: 'createConsumer',
    summary: 'Create a consumer with its first key',
    description: 'Without `grants` it may do nothing yet.',
    request: { body: consumerIn },
    ok: { 201: { description: 'The only answer with the key.', schema: createdConsumerOut } },
    headers: ['Location'],
    problems: [],
  }),
  read: describeRoute({
    ...common,
    operationId: 'readConsumer',
    summary: 'Read one consumer with its grants and keys',
    description: 'Of each key the public part alone.',
    request: { params: consumerParams },
    ok: { 200: theConsumer },
    problems: ['not-found'],
  }),
  update: describeRoute({
    ...common,
    operationId: 'updateConsumer',
    summary: 'Change a consumer’s name, limit or state',
    description: 'What the body leaves out stays as it is.',
    request: { params: consumerParams, body: consumerPatch },
    ok: { 200: theConsumer },
    problems: changeProblems,
  }),
  revoke: describeRoute({
    ...common,
    operationId: 'revokeConsumer',
    summary: 'Revoke a consumer with all its keys, for good',
    description: 'It stays readable. Repeating the call changes nothing.',
    request: { params: consumerParams },
    ok: { 200: theConsumer },
    problems: ['not-found'],
  }),
  grant: describeRoute({
    ...common,
    operationId: 'replaceGrants',
    summary: 'Replace all grants of a consumer',
    description: 'With an empty list it may do nothing.',
    request: { params: consumerParams, body: grantsReplace },
    ok: { 200: theConsumer },
    problems: changeProblems,
  }),
  addKey: describeRoute({
    ...common,
    operationId: 'addKey',
    summary: 'Make one more key for a consumer',
    description: 'A consumer has at most 20 active keys.',
    request: { params: consumerParams, body: keyIn.optional() },
    ok: { 201: { description: 'The only answer with the key.', schema: newKeyOut } },
    problems: changeProblems,
  }),
  rotate: describeRoute({
    ...common,
    operationId: 'rotateKey',
    summary: 'Make a new key in place of an old one',
    description: 'The old key stays good for the overlap.',
    request: { params: keyParams, body: rotateIn.optional() },
    ok: { 200: { description: 'The only answer with the new key.', schema: newKeyOut } },
    problems: changeProblems,
  }),
  revokeKey: describeRoute({
    ...common,
    operationId: 'revokeKey',
    summary: 'Revoke one key, for good',
    description: 'Repeating the call changes nothing.',
    request: { params: keyParams },
    ok: { 200: theConsumer },
    problems: ['not-found'],
  }),
};

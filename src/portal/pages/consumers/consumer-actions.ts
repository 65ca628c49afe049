/** Actions on a consumer and its keys; each goes through the same use case as the API. */
import { z } from 'zod';
import {
  activeKeys,
  type Consumer,
  type Key,
  keyStateAt,
  refuseRevoked,
} from '#access/consumers/consumer.ts';
import { grantOf } from '#access/grant.ts';
import type { UpdateConsumerInput } from '#access/consumers/manage-consumers.ts';
import { findKey } from '#access/keys/key-rules.ts';
import { HOUR } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import type { PortalContext } from '../../context.ts';
import { html, type Html } from '../../html.ts';
import { consumerPath, SECTIONS } from '../../paths.ts';
import { action } from '../../routes/action-route.ts';
import { requireTyped, typedForm } from '../../routes/confirmation.ts';
import { code, foreign } from '../../shell/elements.ts';
import { type Choice, held, select } from '../../shell/forms.ts';
import { remark } from '../../shell/card.ts';
import { agoText, time, type Viewer } from '../../shell/times.ts';
import {
  checkLabels,
  grantChoice,
  grantsDigest,
  inWords,
  lifetime,
  LIFETIME_DEFAULT,
  LIFETIMES,
  limitPerMinute,
  name,
  toGrants,
  typedGrantChoice,
} from './consumer-fields.ts';
import { ofConsumer, showConsumer } from './consumer-page.ts';
import { shownKey } from './create-consumer.ts';

const ofKey = {
  scope: SECTIONS.consumers.scope,
  params: z.object({ id: z.string(), keyId: z.string() }),
} as const;

const saveGrantsAction = action({
  path: consumerPath(':id', 'grants'),
  ...ofConsumer,
  form: z.object({ ...grantChoice, seen: z.string() }),
  onProblems: (context, request) => {
    const { typed, problems, seenBefore: seen } = request;
    const returned = { heading: 'Grants not saved', problems: problems.map(inWords), seen };
    return showConsumer(context, request, { ...returned, chosen: typedGrantChoice.parse(typed) });
  },
  run: async (context, { form, params: { id }, origin }) => {
    const { consumers } = context.access;
    const { grants } = await consumers.read(id);
    if (grantsDigest(grants) !== form.seen) refuseUnseenGrants();
    await checkLabels(context, form, grantOf(grants, 'leads:read')?.labels);
    await consumers.replaceGrants({ id, grants: toGrants(form), expected: grants }, origin);
    return { location: consumerPath(id), notice: 'The grants were saved.' };
  },
});

function refuseUnseenGrants(): never {
  throw new TrackportError('precondition-failed', {
    detail:
      'Somebody else has changed these grants since you opened the page. The form below shows what you chose: compare it with “May read”, then save again.',
  });
}

const saveSetting = <Form extends z.ZodType>(
  setting: 'name' | 'limit',
  form: Form,
  patchOf: (form: z.output<Form>) => UpdateConsumerInput,
) =>
  action({
    path: consumerPath(':id', setting),
    ...ofConsumer,
    form,
    onProblems: (context, request) => {
      const heading = `${setting === 'name' ? 'Name' : 'Limit'} not saved`;
      const { typed, problems } = request;
      return showConsumer(context, request, { heading, typed, problems: problems.map(inWords) });
    },
    run: async ({ access }, { form: sent, params: { id }, origin }) => {
      await access.consumers.update({ id, patch: patchOf(sent) }, origin);
      return { location: consumerPath(id), notice: `The ${setting} was saved.` };
    },
  });

const setState = (below: string, state: 'active' | 'disabled', notice: string) =>
  action({
    path: consumerPath(':id', below),
    ...ofConsumer,
    run: async ({ access }, { params: { id }, origin }) => {
      await access.consumers.update({ id, patch: { state } }, origin);
      return { location: consumerPath(id), notice };
    },
  });

/** Section and breadcrumbs of a question about a consumer. */
function frameOf({ id, name: text }: Consumer) {
  return { section: 'consumers', crumbs: [{ href: consumerPath(id), text }] } as const;
}

/** @throws {not-found} @throws {invalid-lifecycle-transition} */
async function readOpen({ access }: PortalContext, id: string): Promise<Consumer> {
  const consumer = await access.consumers.read(id);
  refuseRevoked(consumer);
  return consumer;
}

type OfKey = { params: Record<'id' | 'keyId', string>; viewer: Viewer };

/** Its page offers nothing about a key that ended; an old tab may. @throws {invalid-lifecycle-transition} */
async function readActiveKey({ access }: PortalContext, { params, viewer }: OfKey) {
  const consumer = await access.consumers.read(params.id);
  const key = findKey(consumer, params.keyId);
  const current = keyStateAt(key, viewer.nowMs);
  if (current === 'active') return { consumer, key };
  throw new TrackportError('invalid-lifecycle-transition', {
    detail: `This key is ${current} already: nothing is left to do about it.`,
    extensions: { current, allowed: [] },
  });
}

const revokeConsumerAction = action({
  path: consumerPath(':id', 'revoke'),
  ...ofConsumer,
  form: typedForm,
  confirm: async (context, { params, viewer }) => {
    const consumer = await readOpen(context, params.id);
    return {
      ...frameOf(consumer),
      title: 'Revoke consumer',
      failed: 'Not revoked',
      warning: useWarning(consumer.keys, viewer),
      consequences: [
        'Every call with any of its keys is refused from now on.',
        'It stays in this list and in the audit, revoked.',
        'This cannot be undone. Disabling can.',
      ],
      toType: html`Type the name of the consumer: ${foreign(consumer.name)}`,
      submit: 'Revoke consumer',
      danger: true,
      wayOut: 'Keep it',
    };
  },
  run: async (context, { form, params: { id }, origin }) => {
    requireTyped(
      form.typed,
      (await context.access.consumers.read(id)).name,
      'the name of the consumer',
    );
    await context.access.consumers.revoke({ id }, origin);
    return { location: consumerPath(id), notice: 'The consumer was revoked.' };
  },
});

const addKeyAction = action({
  path: consumerPath(':id', 'keys', 'new'),
  ...ofConsumer,
  form: z.object({ lifetime }),
  confirm: async (context, request) => ({
    ...frameOf(await readOpen(context, request.params.id)),
    title: 'Add a key',
    failed: 'No key was made',
    consequences: [
      'One more key works beside those that there are, with the same grants.',
      'It is shown once, on the next page. To replace a key, rotate it instead.',
    ],
    fields: [
      select({
        ...held('lifetime', request, LIFETIME_DEFAULT),
        label: 'It works',
        choices: LIFETIMES,
      }),
    ],
    submit: 'Make key',
  }),
  run: async (context, { form, params: { id }, origin }) => {
    const input = { id, expiresInMs: form.lifetime };
    const made = await context.access.keys.add(input, origin);
    const secret = shownKey(made, context.publicUrl());
    return { location: consumerPath(id), notice: 'A key was made.', secret };
  },
});

/** Overlaps of the old key with the new one, in hours. */
const OVERLAPS: readonly Choice[] = [
  { value: '0', label: 'not at all: the old key ends now' },
  { value: '1', label: '1 hour' },
  { value: '24', label: '24 hours' },
  { value: '168', label: '7 days' },
  { value: '720', label: '30 days' },
];
const OVERLAP_DEFAULT = '24';

const overlap = z
  .enum(
    OVERLAPS.map(({ value }) => value),
    'Choose how long the old key stays good.',
  )
  .transform((hours) => Number(hours) * HOUR);

const rotateKeyAction = action({
  path: consumerPath(':id', 'keys', ':keyId', 'rotate'),
  ...ofKey,
  form: z.object({ overlap }),
  confirm: async (context, request) => {
    const { consumer, key } = await readActiveKey(context, request);
    const { keyId, expiresAt } = key;
    const end = expiresAt !== undefined && time(expiresAt, request.viewer, 'minute');
    const overlap = held('overlap', request, OVERLAP_DEFAULT);
    return {
      ...frameOf(consumer),
      title: 'Rotate key',
      failed: 'Not rotated',
      consequences: [
        html`A new key is made. ${code(keyId)} goes on beside it for the time that you choose.`,
        'The new key is shown once, on the next page. Bring it to its consumer within that time.',
        ...(end ? [html`The old key never works longer than it would have: ${end}.`] : []),
      ],
      fields: [select({ ...overlap, label: 'The old key stays good', choices: OVERLAPS })],
      submit: 'Rotate key',
    };
  },
  run: async (context, { form, params, origin }) => {
    const made = await context.access.keys.rotate({ ...params, overlapMs: form.overlap }, origin);
    const secret = shownKey(made, context.publicUrl());
    return { location: consumerPath(params.id), notice: 'The key was rotated.', secret };
  },
});

const revokeKeyAction = action({
  path: consumerPath(':id', 'keys', ':keyId', 'revoke'),
  ...ofKey,
  form: typedForm,
  confirm: async (context, request) => {
    const { consumer, key } = await readActiveKey(context, request);
    return {
      ...frameOf(consumer),
      title: 'Revoke key',
      failed: 'Not revoked',
      warning: useWarning([key], request.viewer),
      consequences: [
        html`Every call with the key ${code(key.keyId)} is refused from now on.`,
        othersOf(consumer, key, request.viewer),
        'This cannot be undone. To replace a key without a gap, rotate it.',
      ],
      toType: html`Type the id of the key: ${foreign(key.keyId)}`,
      submit: 'Revoke key',
      danger: true,
      wayOut: 'Keep it',
    };
  },
  run: async (context, { form, params, origin }) => {
    requireTyped(form.typed, params.keyId, 'the id of the key');
    await context.access.keys.revoke(params, origin);
    return { location: consumerPath(params.id), notice: 'The key was revoked.' };
  },
});

function othersOf(consumer: Consumer, key: Key, { nowMs }: Viewer): string {
  const others = activeKeys(consumer, nowMs).filter(({ keyId }) => keyId !== key.keyId).length;
  if (others === 0) return 'It is the only key that works: nobody can read as this consumer then.';
  return others === 1 ? 'The other key goes on.' : `The ${others} other keys go on.`;
}

/** Says who is hit. */
function useWarning(keys: readonly Key[], viewer: Viewer): Html {
  const uses = keys.flatMap(({ lastUsedAt }) => lastUsedAt ?? []);
  return uses.length === 0
    ? remark('ok', 'Never used')
    : remark(
        'warn',
        `Last used ${agoText(Math.max(...uses), viewer)}`,
        'Whoever reads with it will be refused.',
      );
}

/** First those that are done without a question, from the page of the consumer. */
export const consumerActions = [
  saveGrantsAction,
  saveSetting('name', z.object({ name }), (form) => form),
  saveSetting('limit', z.object({ limitPerMinute }), (form) => ({
    limitPerMinute: form.limitPerMinute ?? null,
  })),
  setState('enable', 'active', 'The consumer is enabled: its keys work again.'),
  setState('disable', 'disabled', 'The consumer is disabled.'),
  revokeConsumerAction,
  addKeyAction,
  rotateKeyAction,
  revokeKeyAction,
];

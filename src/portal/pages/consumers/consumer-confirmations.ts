import { type Consumer, type Key, keyStateAt, refuseRevoked } from '#access/consumers/consumer.ts';
import { findKey } from '#access/keys/key-rules.ts';
import { activeKeys } from '#access/consumers/find-consumers.ts';
import { TrackportError } from '#shared/errors.ts';
import { present } from '../../address.ts';
import { html, type Html } from '../../html.ts';
import { action, requireTyped, typedForm } from '../../routes/page-actions.ts';
import { held, select } from '../../shell/forms.ts';
import { remark } from '../../shell/notice.ts';
import { code, foreign } from '../../shell/elements.ts';
import { agoText, time, type Viewer } from '../../shell/times.ts';
import type { PagesContext } from '../../context.ts';
import { ofConsumer, ofKey, consumerFrame, shownKey } from './consumer-words.ts';
import { consumerPath } from '../../paths.ts';
import {
  LIFETIMES,
  LIFETIME_DEFAULT,
  OVERLAPS,
  OVERLAP_DEFAULT,
  lifetime,
  overlap,
} from './consumer-fields.ts';
import { z } from 'zod';

/** @throws {not-found} @throws {invalid-lifecycle-transition} */
async function readOpen({ access }: PagesContext, id: string): Promise<Consumer> {
  const consumer = await access.consumers.read(id);
  refuseRevoked(consumer);
  return consumer;
}

type OfKey = { params: Record<'id' | 'keyId', string>; viewer: Viewer };

/** Its page offers nothing about a key that ended; an old tab may. @throws {invalid-lifecycle-transition} */
async function readActiveKey({ access }: PagesContext, { params, viewer }: OfKey) {
  const consumer = await access.consumers.read(params.id);
  const key = findKey(consumer, params.keyId);
  const current = keyStateAt(key, viewer.nowMs);
  if (current === 'active') return { consumer, key };
  throw new TrackportError('invalid-lifecycle-transition', {
    detail: `This key is ${current} already: nothing is left to do about it.`,
    extensions: { current, allowed: [] },
  });
}

export const revokeConsumer = action({
  path: consumerPath(':id', 'revoke'),
  ...ofConsumer,
  form: typedForm,
  confirm: async (context, { params, viewer }) => {
    const consumer = await readOpen(context, params.id);
    return {
      ...consumerFrame(consumer),
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

export const addKey = action({
  path: consumerPath(':id', 'keys', 'new'),
  ...ofConsumer,
  form: z.object({ lifetime }),
  doneOnce: true,
  confirm: async (context, request) => ({
    ...consumerFrame(await readOpen(context, request.params.id)),
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
    const input = { id, ...present({ expiresInMs: form.lifetime }) };
    const made = await context.access.keys.add(input, origin);
    const secret = shownKey(made, context.publicUrl());
    return { location: consumerPath(id), notice: 'A key was made.', secret };
  },
});

export const rotateKey = action({
  path: consumerPath(':id', 'keys', ':keyId', 'rotate'),
  ...ofKey,
  form: z.object({ overlap }),
  doneOnce: true,
  confirm: async (context, request) => {
    const { consumer, key } = await readActiveKey(context, request);
    const { keyId, expiresAt } = key;
    const end = expiresAt !== undefined && time(expiresAt, request.viewer, 'minute');
    const overlap = held('overlap', request, OVERLAP_DEFAULT);
    return {
      ...consumerFrame(consumer),
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

export const revokeKey = action({
  path: consumerPath(':id', 'keys', ':keyId', 'revoke'),
  ...ofKey,
  form: typedForm,
  confirm: async (context, request) => {
    const { consumer, key } = await readActiveKey(context, request);
    return {
      ...consumerFrame(consumer),
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

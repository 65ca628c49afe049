import type { z } from 'zod';
import { activeKeys } from '#access/consumers/find-consumers.ts';
import { refuseRevoked } from '#access/consumers/consumer-change.ts';
import {
  type Consumer,
  consumerNotFound,
  type Key,
  keyStateAt,
} from '#access/consumers/consumer.ts';
import { TrackportError } from '#shared/errors.ts';
import { html, type Html } from '../../html.ts';
import { requireTyped, typedField, typedForm } from '../../retyped.ts';
import { questionPage, type QuestionRequest } from '../../routes/question-page.ts';
import type { PortalRoutes } from '../../routes/route-types.ts';
import { select } from '../../shell/fields.ts';
import { problemOf, remark } from '../../shell/notice.ts';
import { code, foreign } from '../../shell/parts.ts';
import { agoText, type Reader, timeText } from '../../shell/times.ts';
import { type ConsumerPagesDeps, ofConsumer, ofKey, placeOf } from './consumer-page.ts';
import { keyForm, LIFETIMES, OVERLAPS, rotateForm } from './forms.ts';
import { consumerPath, CONSUMERS_PATH } from './query.ts';
import { shownKey } from './shown-key.ts';

const KEY_PATH = `${CONSUMERS_PATH}/:id/keys/:keyId`;

type Parts = ConsumerPagesDeps & { portal: PortalRoutes };
type OfConsumer = QuestionRequest<z.output<typeof ofConsumer.params>>;
type OfKey = QuestionRequest<z.output<typeof ofKey.params>>;

/** What ends keys, and what makes them, each asked on a page of its own. */
export function addConsumerConfirmations(portal: PortalRoutes, deps: ConsumerPagesDeps): void {
  const parts = { ...deps, portal };
  addRevokeConsumer(parts);
  addNewKey(parts);
  addRotateKey(parts);
  addRevokeKey(parts);
}

/** @throws {consumer-not-found} @throws {invalid-lifecycle-transition} */
async function readOpen({ access }: ConsumerPagesDeps, id: string): Promise<Consumer> {
  const consumer = await access.consumers.read(id);
  refuseRevoked(consumer);
  return consumer;
}

/** Its page offers nothing about a key that ended; an old tab may. @throws {invalid-lifecycle-transition} */
async function readActiveKey(
  { access, clock }: ConsumerPagesDeps,
  { id, keyId }: Record<'id' | 'keyId', string>,
) {
  const consumer = await access.consumers.read(id);
  const key = consumer.keys.find((one) => one.keyId === keyId) ?? consumerNotFound();
  const current = keyStateAt(key, clock.now());
  if (current === 'active') return { consumer, key };
  throw new TrackportError('invalid-lifecycle-transition', {
    detail: `This key is ${current} already: nothing is left to do about it.`,
    extensions: { current, allowed: [] },
  });
}

function addRevokeConsumer({ portal, ...deps }: Parts): void {
  const { consumers } = deps.access;
  const page = questionPage(deps, async ({ params: { id }, reader, problems }: OfConsumer) => {
    const consumer = await readOpen(deps, id);
    const label = html`Type the name of the consumer: ${foreign(consumer.name)}`;
    return {
      ...placeOf(consumer),
      title: 'Revoke consumer',
      failed: 'Not revoked',
      warning: useWarning(consumer.keys, reader),
      consequences: [
        'Every call with any of its keys is refused from now on.',
        'It stays in this list and in the audit, revoked.',
        'This cannot be undone. Disabling can.',
      ],
      fields: [typedField(label, problems)],
      submit: 'Revoke consumer',
      danger: true,
      wayOut: 'Keep it',
    };
  });
  const options = { ...ofConsumer, form: typedForm, page };
  portal.action(
    `${CONSUMERS_PATH}/:id/revoke`,
    options,
    async ({ form, params: { id }, origin }) => {
      requireTyped(form.typed, (await consumers.read(id)).name, 'the name of the consumer');
      await consumers.revoke({ id }, origin);
      return { location: consumerPath(id), notice: 'The consumer was revoked.' };
    },
  );
}

function addNewKey({ portal, ...deps }: Parts): void {
  const page = questionPage(deps, async ({ params: { id }, problems }: OfConsumer) => {
    const error = problemOf(problems, 'lifetime');
    return {
      ...placeOf(await readOpen(deps, id)),
      title: 'Add a key',
      failed: 'No key was made',
      isDoneOnce: true,
      consequences: [
        'One more key works beside those that there are, with the same grants.',
        'It is shown once, on the next page. To replace a key, rotate it instead.',
      ],
      fields: [select({ name: 'lifetime', label: 'It works', choices: LIFETIMES, error })],
      submit: 'Make key',
    };
  });
  const options = { ...ofConsumer, form: keyForm, doneOnce: true, page };
  portal.action(
    `${CONSUMERS_PATH}/:id/keys/new`,
    options,
    async ({ form, params: { id }, origin }) => {
      const lifetime = form.lifetime !== undefined && { expiresInMs: form.lifetime };
      const made = await deps.access.keys.add({ id, ...lifetime }, origin);
      const secret = shownKey(made, deps.publicUrl());
      return { location: consumerPath(id), notice: 'A key was made.', secret };
    },
  );
}

function addRotateKey({ portal, ...deps }: Parts): void {
  const page = questionPage(deps, async ({ params, reader, problems }: OfKey) => {
    const { consumer, key } = await readActiveKey(deps, params);
    const { keyId, expiresAt } = key;
    const end = expiresAt !== undefined && timeText(expiresAt, reader, 'minute');
    const error = problemOf(problems, 'overlap');
    const label = 'The old key stays good';
    return {
      ...placeOf(consumer),
      title: 'Rotate key',
      failed: 'Not rotated',
      isDoneOnce: true,
      consequences: [
        html`A new key is made. ${code(keyId)} goes on beside it for the time that you choose.`,
        'The new key is shown once, on the next page. Bring it to its consumer within that time.',
        ...(end ? [`The old key never works longer than it would have: ${end}.`] : []),
      ],
      fields: [select({ name: 'overlap', label, choices: OVERLAPS, error })],
      submit: 'Rotate key',
    };
  });
  const options = { ...ofKey, form: rotateForm, doneOnce: true, page };
  portal.action(`${KEY_PATH}/rotate`, options, async ({ form, params, origin }) => {
    const made = await deps.access.keys.rotate({ ...params, overlapMs: form.overlap }, origin);
    const secret = shownKey(made, deps.publicUrl());
    return { location: consumerPath(params.id), notice: 'The key was rotated.', secret };
  });
}

function addRevokeKey({ portal, ...deps }: Parts): void {
  const page = questionPage(deps, async ({ params, reader, problems }: OfKey) => {
    const { consumer, key } = await readActiveKey(deps, params);
    return {
      ...placeOf(consumer),
      title: 'Revoke key',
      failed: 'Not revoked',
      warning: useWarning([key], reader),
      consequences: [
        html`Every call with the key ${code(key.keyId)} is refused from now on.`,
        othersOf(consumer, key, reader),
        'This cannot be undone. To replace a key without a gap, rotate it.',
      ],
      fields: [typedField(html`Type the id of the key: ${foreign(key.keyId)}`, problems)],
      submit: 'Revoke key',
      danger: true,
      wayOut: 'Keep it',
    };
  });
  const options = { ...ofKey, form: typedForm, page };
  portal.action(`${KEY_PATH}/revoke`, options, async ({ form, params, origin }) => {
    requireTyped(form.typed, params.keyId, 'the id of the key');
    await deps.access.keys.revoke(params, origin);
    return { location: consumerPath(params.id), notice: 'The key was revoked.' };
  });
}

function othersOf(consumer: Consumer, key: Key, { nowMs }: Reader): string {
  const others = activeKeys(consumer, nowMs).filter(({ keyId }) => keyId !== key.keyId).length;
  if (others === 0) return 'It is the only key that works: nobody can read as this consumer then.';
  return others === 1 ? 'The other key goes on.' : `The ${others} other keys go on.`;
}

/** Who is hit. */
function useWarning(keys: readonly Key[], reader: Reader): Html {
  const uses = keys.flatMap(({ lastUsedAt }) => lastUsedAt ?? []);
  return uses.length === 0
    ? remark('ok', 'Never used')
    : remark(
        'warn',
        `Last used ${agoText(Math.max(...uses), reader)}`,
        'Whoever reads with it will be refused.',
      );
}

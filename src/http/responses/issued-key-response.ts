import type { FastifyReply } from 'fastify';
import type { ConsumerWithKey, ToStoredCall } from '#access/keys/manage-keys.ts';
import { TrackportError } from '#shared/errors.ts';
import type { Idempotency, StoredResponse } from '#shared/idempotency.ts';
import { type Exchange, respondOnce } from './idempotent-response.ts';

type IssueWork = {
  work: (toStoredCall?: ToStoredCall) => Promise<ConsumerWithKey>;
  render: (made: ConsumerWithKey) => StoredResponse;
};

/** What is stored of a response that showed a key: which key it was. */
type MadeKey = { consumerId: string; keyId: string };

/**
 * Does the work of a `POST` that makes a key, once per `Idempotency-Key`. The key itself is never
 * stored, so that a duplicate cannot get the first response again.
 * @throws {idempotency-replayed-secret} with `consumerId` and `keyId`
 * @throws {idempotency-in-progress} @throws {idempotency-mismatch}
 */
export function respondWithKeyOnce(
  idempotency: Idempotency,
  exchange: Exchange,
  { work, render }: IssueWork,
): Promise<FastifyReply> {
  return respondOnce(idempotency, exchange, {
    work: (call) => work(call && ((made) => ({ ...call, response: withoutKey(made) }))),
    render,
    onReplay: ({ body }) => refuseReplayedSecret(JSON.parse(body) as MadeKey),
  });
}

function withoutKey({ consumer, issued }: ConsumerWithKey): StoredResponse {
  const made: MadeKey = { consumerId: consumer.id, keyId: issued.stored.keyId };
  return { status: 409, headers: {}, body: JSON.stringify(made) };
}

/** @throws {idempotency-replayed-secret} always */
function refuseReplayedSecret({ consumerId, keyId }: MadeKey): never {
  const path = `/api/v1/consumers/${consumerId}/keys/${keyId}/rotate`;
  throw new TrackportError('idempotency-replayed-secret', {
    detail: `This call was done before. Its key was shown once, in the first answer, and cannot be read again. If that answer is lost, \`POST ${path}\` with {"overlap":"0s"} and another \`Idempotency-Key\` makes a new key in its place.`,
    extensions: { consumerId, keyId },
  });
}

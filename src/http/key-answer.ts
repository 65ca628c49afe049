import type { FastifyRequest } from 'fastify';
import type { ConsumerWithKey, KeepIssued } from '#access/keys/manage-keys.ts';
import { TrackportError } from '#shared/errors.ts';
import type { GivenAnswer, Idempotency, KeptAnswer } from '#shared/idempotency.ts';
import { answerOnce } from './keyed-answer.ts';

type IssueWork = {
  work: (keep?: KeepIssued) => Promise<ConsumerWithKey>;
  render: (made: ConsumerWithKey) => KeptAnswer;
};

/** What is kept of an answer that showed a key: which key it was. */
type MadeKey = { consumerId: string; keyId: string };

/**
 * Does the work of a `POST` that makes a key, once per `Idempotency-Key`. The key itself is never
 * kept, so that a repeat cannot get the first answer again.
 * @throws {idempotency-replayed-secret} with `consumerId` and `keyId`
 * @throws {idempotency-in-progress} @throws {idempotency-mismatch}
 */
export async function answerKeyOnce(
  idempotency: Idempotency,
  request: FastifyRequest,
  { work, render }: IssueWork,
): Promise<GivenAnswer> {
  const given = await answerOnce(idempotency, request, { work, render, renderKept: withoutKey });
  if (given.replayed) refuseReplayedSecret(JSON.parse(given.answer.body) as MadeKey);
  return given;
}

function withoutKey({ consumer, issued }: ConsumerWithKey): KeptAnswer {
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

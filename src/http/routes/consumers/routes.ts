import {
  toConsumerOut,
  toCreatedConsumerOut,
  toNewKeyOut,
} from '#access/consumers/consumer-out.ts';
import type { Consumer } from '#access/consumers/consumer.ts';
import type { Clock } from '#shared/clock.ts';
import type { ConsumerWithKey, ToStoredCall } from '#access/keys/manage-keys.ts';
import { TrackportError } from '#shared/errors.ts';
import type { Idempotency, StoredResponse } from '#shared/idempotency.ts';
import type { FastifyReply } from 'fastify';
import { originOf, requireBearer } from '../../auth/bearer.ts';
import { uncached, linkNext } from '../../responses/headers.ts';
import type { BearerContext, Exchange, HttpApp } from '../../context.ts';
import { respondOnce } from '../../responses/idempotent-response.ts';
import { JSON_MEDIA_TYPE } from '../../responses/rendered-response.ts';
import { routes } from './schema.ts';

const PATH = '/api/v1/consumers';

/** Consumers with their grants and keys, for operators. Every change is in the audit log. */
export function consumerRoutes(app: HttpApp, context: BearerContext): void {
  requireBearer(app, context);
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(uncached);
    done();
  });
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
    const input = { ...fields, expiresInMs: expires };
    return respondWithKeyOnce(
      context.idempotency,
      { request, reply },
      {
        work: (toStoredCall) => consumers.create(input, originOf(request), toStoredCall),
        render: (created) => {
          const location = `${context.publicUrl()}${PATH}/${created.consumer.id}`;
          return toResponse(201, toCreatedConsumerOut(created), { location });
        },
      },
    );
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
    return respondWithKeyOnce(
      context.idempotency,
      { request, reply },
      {
        work: (toStoredCall) => keys.add(input, originOf(request), toStoredCall),
        render: (made) => toResponse(201, toNewKeyOut(made)),
      },
    );
  });
  app.post(`${PATH}/:id/keys/:keyId/rotate`, routes.rotate, async (request, reply) => {
    const input = { ...request.params, overlapMs: request.body?.overlap };
    return respondWithKeyOnce(
      context.idempotency,
      { request, reply },
      {
        work: (toStoredCall) => keys.rotate(input, originOf(request), toStoredCall),
        render: (made) => toResponse(200, toNewKeyOut(made)),
      },
    );
  });
  app.delete(`${PATH}/:id/keys/:keyId`, routes.revokeKey, async (request) =>
    render(context, await keys.revoke(request.params, originOf(request))),
  );
}

function toResponse(
  status: number,
  body: object,
  headers: Record<string, string> = {},
): StoredResponse {
  return {
    status,
    headers: { ...headers, 'content-type': JSON_MEDIA_TYPE },
    body: JSON.stringify(body),
  };
}

function render({ clock }: { clock: Pick<Clock, 'now'> }, consumer: Consumer) {
  return toConsumerOut(consumer, clock.now());
}

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
function respondWithKeyOnce(
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

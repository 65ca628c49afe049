import {
  toConsumerOut,
  toCreatedConsumerOut,
  toNewKeyOut,
} from '#access/consumers/consumer-out.ts';
import type { Consumer } from '#access/consumers/consumer.ts';
import type { Clock } from '#shared/clock.ts';
import { originOf, requireBearer } from '../../auth/bearer.ts';
import { linkNext } from '../../responses/headers.ts';
import type { BearerContext, HttpApp } from '../../context.ts';
import { routes } from './schema.ts';

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

import type { TrackerEvent } from '#leads/lead-tracker.ts';
import { errorFields } from '#shared/log.ts';
import * as z from 'zod';
import type { Area, HttpContext } from '../http-app.ts';
import { acceptRawJson, rawBodyOf } from '../json-body.ts';
import { describeRoute } from '../schemas/describe-route.ts';
import { createEventQueue } from '../event-queue.ts';

/** A delivery of the tracker's webhook as it came. */
export type TrackerDelivery = {
  /** `X-GitHub-Event`. */
  event: string | undefined;
  /** `X-Hub-Signature-256`. */
  signature: string | undefined;
  rawBody: Buffer;
};

export type TrackerWebhookDeps = {
  /** @throws {unauthorized} @throws {malformed-json} @throws {validation-failed} */
  verify: (delivery: TrackerDelivery) => Promise<TrackerEvent>;
  /** Called after the answer, for one event after the other. May be slow and may fail. */
  onTrackerEvent: (event: TrackerEvent) => Promise<void> | void;
};

const BODY_BYTES_MAX = 25 * 1024 * 1024;
const DELIVERY_ID = /^[0-9A-Za-z-]{1,64}$/;

/**
 * The tracker's own webhook: verified over the raw bytes, answered, then worked on. What is still
 * waiting when the server closes is finished first.
 * @see https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
 */
export function githubWebhookRoutes(context: HttpContext, deps: TrackerWebhookDeps): Area {
  const queue = createEventQueue({
    work: deps.onTrackerEvent,
    onFailure: (error) =>
      context.log.error(errorFields(error), 'a tracker event could not be applied'),
  });
  return (app) => {
    acceptRawJson(app);
    app.addHook('onClose', () => queue.drained());
    app.post('/api/v1/webhooks/github', webhookRoute, async (request, reply) => {
      const { headers } = request;
      request.logFacts = deliveryFacts(headers['x-github-delivery']);
      try {
        const event = await deps.verify({
          event: textOf(headers['x-github-event']),
          signature: textOf(headers['x-hub-signature-256']),
          rawBody: rawBodyOf(request),
        });
        queue.push(event);
      } catch (error) {
        context.refusals.rethrow(request.ip, error);
      }
      return reply.code(202).send({ accepted: true });
    });
  };
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined;
}

function deliveryFacts(header: string | string[] | undefined) {
  const deliveryId = textOf(header);
  return deliveryId !== undefined && DELIVERY_ID.test(deliveryId) ? { deliveryId } : {};
}

const webhookRoute = describeRoute({
  tag: 'Webhooks',
  operationId: 'receiveTrackerEvent',
  summary: 'Take an event of the tracker',
  description:
    'Signed by `X-Hub-Signature-256`. `issues`, `label` and `repository` keep answers current; other events are acknowledged and ignored.',
  security: 'TrackerSignature',
  freeQuery: true,
  bodyLimit: BODY_BYTES_MAX,
  ok: {
    202: {
      description: 'Genuine; the work comes after the answer.',
      schema: z.object({ accepted: z.literal(true) }),
    },
  },
  problems: [
    'unauthorized',
    'malformed-json',
    'payload-too-large',
    'unsupported-media-type',
    'quota-exceeded',
  ],
});

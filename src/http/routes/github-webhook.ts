import { setImmediate } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type TrackerEvent, unsignedDelivery } from '#leads/lead-tracker.ts';
import type { ErrorCode } from '#shared/errors.ts';
import { errorFields } from '#shared/log.ts';
import type { WebhookRefusal } from '#shared/outcomes/callers.ts';
import type { AreaContext, HttpApp } from '../context.ts';
import { acceptRawJson, rawBodyOf, declaredBytes } from '../requests/body.ts';
import { describeRoute } from '../route.ts';
import { requireJson } from '../requests/headers.ts';
import { toTrackportError } from '../responses/problem.ts';

/** Address of the tracker's webhook. */
export const GITHUB_WEBHOOK_PATH = '/api/v1/webhooks/github';

const BODY_BYTES_MAX = 25 * 1024 * 1024;
const DELIVERY_ID = /^[0-9A-Za-z-]{1,64}$/;

/**
 * The tracker's own webhook: verified over the raw bytes, acknowledged, then worked on. Events that
 * still wait when the server closes are finished first.
 * @see https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
 */
export function githubWebhookRoutes(app: HttpApp, context: AreaContext): void {
  const { log, countRefusal, trackerWebhook } = context;
  const work = (event: TrackerEvent): void => {
    try {
      trackerWebhook.onTrackerEvent(event);
    } catch (error) {
      log.error(errorFields(error), 'a tracker event could not be applied');
    }
  };
  acceptRawJson(app, context.readBody);
  app.addHook('onError', async (request, _reply, error) => {
    const reason = trackerRefusalOf(request, error);
    if (reason !== undefined) trackerWebhook.onRefused(reason);
  });
  app.addHook('onClose', async () => {
    await setImmediate(); // behind all events that wait
    await trackerWebhook.settled();
  });
  const preParsing = async (request: FastifyRequest): Promise<void> =>
    refuseUnsigned(context, request);
  app.post(GITHUB_WEBHOOK_PATH, { ...webhookRoute, preParsing }, async (request, reply) => {
    const { headers } = request;
    request.logFacts = logFieldsOf(headers['x-github-delivery']);
    const delivery = {
      event: textOf(headers['x-github-event']),
      signature: textOf(headers['x-hub-signature-256']),
      rawBody: rawBodyOf(request),
    };
    const event = await trackerWebhook.verify(delivery).catch((error: unknown) => {
      throw countRefusal(request.ip, error);
    });
    if (event.kind !== 'ignored') void setImmediate(event).then(work); // the response goes out first
    return reply.code(202).send({ accepted: true });
  });
}

/** Refuses before the body is read what no body could mend. */
function refuseUnsigned({ countRefusal }: AreaContext, request: FastifyRequest): void {
  const { 'content-type': type, 'x-hub-signature-256': signature } = request.headers;
  if (type !== undefined || (declaredBytes(request) ?? 0) > 0) requireJson(request);
  if (!isSignature(signature)) throw countRefusal(request.ip, unsignedDelivery());
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined;
}

function logFieldsOf(header: string | string[] | undefined) {
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
  isRoutine: true,
  bodyLimit: BODY_BYTES_MAX,
  ok: {
    202: {
      description: 'Genuine; the work comes after the answer.',
      schema: z.object({ accepted: z.literal(true) }),
    },
  },
  problems: [],
});

const SIGNATURE = /^sha256=[0-9a-f]{64}$/;

/** True when `X-Hub-Signature-256` has the form of a signature. */
function isSignature(header: string | string[] | undefined): boolean {
  return typeof header === 'string' && SIGNATURE.test(header);
}

const REASONS: Readonly<Partial<Record<ErrorCode, WebhookRefusal>>> = {
  'unsupported-media-type': 'content-type',
  'payload-too-large': 'too-large',
  'malformed-json': 'malformed',
};

/**
 * The reason why a request failed; undefined for what says nothing about the webhook, such as a connection that
 * broke or our own load, and for requests without the header that the tracker always sends: those of
 * scanners.
 */
function trackerRefusalOf(
  { headers }: Pick<FastifyRequest, 'headers'>,
  error: unknown,
): WebhookRefusal | undefined {
  if (headers['x-github-event'] === undefined) return undefined;
  const { code } = toTrackportError(error);
  if (code !== 'unauthorized' && code !== 'quota-exceeded') return REASONS[code];
  const signature = headers['x-hub-signature-256'];
  if (signature === undefined || signature === '') return 'signature-missing';
  return isSignature(signature) ? 'signature-wrong' : 'signature-malformed';
}

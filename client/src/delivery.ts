import type { Client } from 'openapi-fetch';
import type { components, paths } from './api.ts';
import { readRetryAfter, unwrap } from './problem-error.ts';
import { createRetryingFetch, type RetryOptions, sleep } from './retry.ts';

/** A delivery of a partner. */
export type Delivery = {
  partnerId: string;
  path: 'events' | 'deletions';
  /** One event or a list of them: JSON, or the very text. */
  body: object | string;
  /** Asked for each attempt, as `(call) => signV3({ secret, ...call })`. */
  sign: (call: { url: string; body: string }) => Promise<Record<string, string>>;
  correlationId?: string | undefined;
  signal?: AbortSignal | undefined;
};

/** A delivery that Trackport has accepted: it is durable there, and a deleted lead is hidden from that time on. */
export type Accepted = {
  receipt: components['schemas']['Receipt'];
  /** It came before; this is the receipt of then. */
  isRepeat: boolean;
  /** Address of its status, for 30 days: for `settled`. */
  statusUrl: string;
};

/** Status of a delivery, event by event. */
export type DeliveryStatus = components['schemas']['ReceiptStatus'];

/** Sends as a partner; again, signed anew, while that makes sense: Trackport knows what came before. */
export async function sendDelivery(
  api: Client<paths>,
  send: (request: Request) => Promise<Response>,
  { retry, delivery }: { retry: RetryOptions; delivery: Delivery },
): Promise<Accepted> {
  const { partnerId, path, sign, correlationId, signal } = delivery;
  const body = typeof delivery.body === 'string' ? delivery.body : JSON.stringify(delivery.body);
  const sendSigned = async (request: Request): Promise<Response> => {
    const signed = new Request(request);
    const headers = await sign({ url: request.url, body });
    for (const [name, value] of Object.entries(headers)) signed.headers.set(name, value);
    return send(signed);
  };
  const result = await api.POST(`/api/v1/webhooks/partners/{partnerId}/${path}`, {
    params: { path: { partnerId } },
    headers: { ...(correlationId !== undefined && { 'X-Correlation-Id': correlationId }) },
    body: {} as never,
    bodySerializer: () => body,
    fetch: createRetryingFetch(sendSigned, { ...retry, mayRepeat: true }),
    ...(signal && { signal }),
  });
  const receipt = unwrap(result);
  const { headers, url } = result.response;
  return {
    receipt,
    isRepeat: headers.get('idempotent-replayed') === 'true',
    statusUrl: new URL(headers.get('location') ?? '', url).href,
  };
}

/** Wait between two reads of the status, unless the answer names one. */
const WAIT_MS = 5000;

/** Nothing of it is under way any more: asked for as often as Trackport says. */
export async function untilSettled(
  api: Client<paths>,
  statusUrl: string,
  signal?: AbortSignal,
): Promise<DeliveryStatus> {
  const token = new URL(statusUrl).pathname.split('/').at(-1) ?? '';
  for (;;) {
    const params = { path: { token } };
    const result = await api.GET('/api/v1/receipt-status/{token}', {
      params,
      ...(signal && { signal }),
    });
    const status = unwrap(result) as DeliveryStatus; // a certificate comes only where it is asked for
    if (!status.events.some(({ outcome }) => outcome === 'PENDING')) return status;
    await sleep(readRetryAfter(result.response.headers) ?? WAIT_MS, signal);
  }
}

import { createHmac } from 'node:crypto';
import { responseOfFault } from '#sandbox/instruments/faults.ts';
import type { TrackerResponse } from '#sandbox/tracker/api/response.ts';
import type { TrackerRequest } from '#sandbox/tracker/api/route.ts';
import { createTracker } from '#sandbox/tracker/tracker.ts';
import { systemClock } from '#shared/clock.ts';
import { newUuid } from '#shared/ids.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import { REPOSITORY, TOKENS, WEBHOOK_SECRET } from './settings.ts';

/** Fate of a call to the tracker. */
export type CallFate =
  | 'answered'
  /** Nothing arrives there; the connection breaks. */
  | 'refused'
  /** It arrives, and the connection breaks before the answer. */
  | 'lost'
  /** It arrives, and nobody ever answers. */
  | 'silent'
  | 'error'
  | 'slow-down'
  | 'labels-dropped';

type TrackerFaults = {
  fate(request: TrackerRequest): CallFate;
  /** Ms on the way there, or back. */
  delayMs(): number;
};

export type Call = { by: Owner; request: TrackerRequest; status: number; sentAtStep: number };

export type SimulatedTracker = ReturnType<typeof startTracker>;

/** The sandbox's tracker, whose answers come when the scheduler says so. */
export function startTracker(
  scheduler: Scheduler,
  faults: TrackerFaults,
  { replicaLagMs }: { replicaLagMs: number },
) {
  const tracker = createTracker({
    repository: REPOSITORY,
    clock: systemClock,
    newId: newUuid,
    replicaLagMs,
    tokens: [
      { token: TOKENS.service, can: 'write', login: 'trackport-service' },
      { token: TOKENS.admin, can: 'admin', login: 'octo-operator' },
    ],
  });
  const listeners: ((call: Call) => void)[] = [];
  const take = (
    request: TrackerRequest,
    by: Owner,
    sentAtStep: number,
  ): [CallFate, TrackerResponse] => {
    const fate = faults.fate(request);
    const response = respond(fate, request);
    if (fate !== 'refused')
      for (const listen of listeners) listen({ by, request, status: response.status, sentAtStep });
    return [fate, response];
  };
  const respond = (fate: CallFate, request: TrackerRequest): TrackerResponse => {
    const now = scheduler.now();
    if (fate === 'error') return { status: 502, headers: {}, body: Buffer.from('{}') };
    if (fate === 'slow-down')
      return responseOfFault({ kind: 'secondary-limit', retryAfterSeconds: 5 }, now) ?? NOTHING;
    return fate === 'refused'
      ? NOTHING
      : tracker.respond(request, { dropLabels: fate === 'labels-dropped' }).response;
  };
  const fetchSimulated = (input: string | URL | Request, init: RequestInit = {}) =>
    new Promise<Response>((resolve, reject) => {
      const by = scheduler.owner();
      const request = toRequest(input as string, init);
      const what = `${request.method} ${request.path}`;
      const sentAtStep = scheduler.steps();
      const { signal } = init;
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
      const arrive = (): void => {
        const [fate, response] = take(request, by, sentAtStep);
        if (fate === 'silent') return;
        const isLost = fate === 'refused' || fate === 'lost';
        scheduler.add({
          owner: by,
          lane: `answer ${scheduler.steps()} to ${by.name}`,
          what: `${what} is ${isLost ? 'lost' : `answered ${response.status}`}`,
          at: scheduler.nowMs() + faults.delayMs(),
          run: () =>
            isLost ? reject(brokenConnection()) : resolve(toResponse(response, scheduler)),
        });
      };
      scheduler.add({
        owner: scheduler.outside,
        lane: `call ${scheduler.steps()} of ${by.name} ${what}`,
        what: `the tracker gets ${what} of ${by.name}`,
        at: scheduler.nowMs() + faults.delayMs(),
        run: arrive,
      });
    });
  globalThis.fetch = fetchSimulated;
  return { ...tracker, onCall: (listen: (call: Call) => void) => void listeners.push(listen) };
}

const NOTHING: TrackerResponse = { status: 0, headers: {} };

function brokenConnection(): TypeError {
  return new TypeError('fetch failed', {
    cause: Object.assign(new Error(), { code: 'ECONNRESET' }),
  });
}

function toRequest(
  address: string,
  { method = 'GET', headers, body }: RequestInit,
): TrackerRequest {
  const { pathname, searchParams } = new URL(address);
  return {
    method,
    path: pathname,
    query: searchParams,
    headers: Object.fromEntries(new Headers(headers)),
    body: Buffer.from(typeof body === 'string' ? body : ''),
  };
}

const BODILESS = new Set([204, 304]);

function toResponse({ status, headers, body }: TrackerResponse, scheduler: Scheduler): Response {
  const date = new Date(scheduler.now()).toUTCString();
  const type = { 'content-type': 'application/json; charset=utf-8' };
  return new Response(BODILESS.has(status) ? null : (body as Uint8Array<ArrayBuffer> | undefined), {
    status,
    headers: { date, ...type, ...headers },
  });
}

/** A webhook of the tracker, as an instance gets it. */
export type Webhook = { event: string; signature: string; rawBody: Buffer };

export function signWebhook(event: string, payload: object): Webhook {
  const rawBody = Buffer.from(JSON.stringify(payload));
  const digest = createHmac('sha256', WEBHOOK_SECRET).update(rawBody).digest('hex');
  return { event, rawBody, signature: `sha256=${digest}` };
}

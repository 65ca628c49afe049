import { SECOND } from '#shared/clock.ts';
import { jsonResponse, type TrackerResponse } from '../tracker/api/response.ts';
import type { TrackerRequest } from '../tracker/api/route.ts';

/** Faults that respond in place of the tracker. */
type Replacement =
  /** Any response: `json` (a value), or `text` as HTML unless `headers` say otherwise. */
  | {
      kind: 'status';
      status: number;
      json?: unknown;
      text?: string;
      headers?: Record<string, string>;
    }
  | { kind: 'redirect'; location: string; status?: number }
  | { kind: 'primary-limit'; status?: 403 | 429; resetAfterSeconds?: number }
  | { kind: 'secondary-limit'; status?: 403 | 429; retryAfterSeconds?: number }
  | { kind: 'bad-credentials' }
  | { kind: 'repository-missing' };

/** Faults that bend the tracker's own response, or lose it. */
type Distortion =
  /** The first half of the true response's text, well-formed as HTTP. */
  | { kind: 'truncated' }
  /** The true status with no body and no content type. */
  | { kind: 'empty' }
  /** No response until the client goes away. */
  | { kind: 'hang' }
  /** The connection breaks. */
  | { kind: 'reset' }
  /** The true response, late by real milliseconds. */
  | { kind: 'slow'; ms: number }
  /** Label and assignee changes are left out in silence, as without push access. */
  | { kind: 'drop-labels' };

/** A fault on demand. */
type FaultKind = Replacement | Distortion;

export type Fault = FaultKind & {
  method?: string;
  /** Regular expression that the path (without query) must match; default every path. */
  path?: string;
  /** Requests that it hits; default 1. */
  count?: number;
  /** Matching requests that pass first; default 0. */
  skip?: number;
  /** Chance (0 to 1) for each matching request; default 1. */
  probability?: number;
  /** `after`: the request has its effect, only the response goes wrong. Default `before`. */
  when?: 'before' | 'after';
};

export type Faults = {
  add(fault: Fault): void;
  clear(): void;
  /** The fault that hits this request; it counts as used. */
  next(request: TrackerRequest): Fault | undefined;
};

/** `random` gives numbers of [0, 1). */
export function createFaults(random: () => number): Faults {
  let armed: { fault: Fault; path: RegExp; skip: number; left: number }[] = [];
  return {
    add: (fault) => {
      const { path = '', skip = 0, count = 1 } = fault;
      armed.push({ fault, path: new RegExp(path), skip, left: count });
    },
    clear: () => {
      armed = [];
    },
    next: (request) => {
      for (const item of armed) {
        const { fault } = item;
        if (fault.method && fault.method !== request.method) continue;
        if (item.left === 0 || !item.path.test(request.path)) continue;
        if (random() >= (fault.probability ?? 1)) continue;
        item.skip -= 1;
        if (item.skip >= 0) continue;
        item.left -= 1;
        return fault;
      }
      return undefined;
    },
  };
}

/** Numbers of [0, 1) that a seed determines (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const DOCS = 'https://docs.github.com/rest/overview/rate-limits-for-the-rest-api';

/** The response that a fault gives by itself; undefined when it bends the true one. */
export function responseOfFault(fault: Fault, now: number): TrackerResponse | undefined {
  if (isDistortion(fault)) return undefined;
  switch (fault.kind) {
    case 'status':
      return statusResponse(fault);
    case 'redirect':
      return redirectResponse(fault);
    case 'primary-limit':
      return primaryLimit(fault, now);
    case 'secondary-limit':
      return secondaryLimit(fault);
    case 'bad-credentials':
      return messageResponse(401, 'Bad credentials');
    case 'repository-missing':
      return messageResponse(404, 'Not Found');
    default:
      throw new Error('unknown fault');
  }
}

const DISTORTIONS = new Set<string>(['truncated', 'empty', 'hang', 'reset', 'slow', 'drop-labels']);

function isDistortion(fault: FaultKind): fault is Distortion {
  return DISTORTIONS.has(fault.kind);
}

type FaultOf<Kind extends Fault['kind']> = Extract<Fault, { kind: Kind }>;

function statusResponse({
  status,
  json = {},
  text,
  headers = {},
}: FaultOf<'status'>): TrackerResponse {
  if (text === undefined) return jsonResponse(json, { status, headers });
  const type = { 'content-type': 'text/html; charset=utf-8' };
  return { status, body: Buffer.from(text), headers: { ...type, ...headers } };
}

function redirectResponse({ location, status = 301 }: FaultOf<'redirect'>): TrackerResponse {
  const document = { message: 'Moved Permanently', url: location, documentation_url: DOCS };
  return jsonResponse(document, { status, headers: { location } });
}

function primaryLimit(
  { status = 403, ...fault }: FaultOf<'primary-limit'>,
  now: number,
): TrackerResponse {
  const reset = Math.ceil(now / SECOND) + (fault.resetAfterSeconds ?? 60);
  return messageResponse(status, 'API rate limit exceeded for user ID 1.', {
    'x-ratelimit-limit': '5000',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-used': '5000',
    'x-ratelimit-resource': 'core',
    'x-ratelimit-reset': String(reset),
  });
}

const SLOW_DOWN =
  'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';

function secondaryLimit({
  status = 403,
  retryAfterSeconds = 60,
}: FaultOf<'secondary-limit'>): TrackerResponse {
  return messageResponse(status, SLOW_DOWN, { 'retry-after': String(retryAfterSeconds) });
}

function messageResponse(
  status: number,
  message: string,
  headers: Record<string, string> = {},
): TrackerResponse {
  const document = { message, documentation_url: DOCS, status: String(status) };
  return jsonResponse(document, { status, headers });
}

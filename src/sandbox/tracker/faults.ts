import { SECOND } from '#shared/clock.ts';
import type { Answer } from './answer.ts';
import { jsonAnswer } from './answer.ts';
import type { TrackerRequest } from './route.ts';

/** What can go wrong on demand. */
export type FaultKind =
  /** Any answer: `json` (a value), or `text` as HTML unless `headers` say otherwise. */
  | {
      kind: 'status';
      status: number;
      json?: unknown;
      text?: string;
      headers?: Record<string, string>;
    }
  /** The first half of the true answer's text, well-formed as HTTP. */
  | { kind: 'truncated' }
  /** The true status with no body and no content type. */
  | { kind: 'empty' }
  /** No answer until the client goes away. */
  | { kind: 'hang' }
  /** The connection breaks. */
  | { kind: 'reset' }
  /** The true answer, late. */
  | { kind: 'slow'; ms: number }
  | { kind: 'redirect'; location: string; status?: number }
  | { kind: 'primary-limit'; status?: 403 | 429; resetAfterSeconds?: number }
  | { kind: 'secondary-limit'; status?: 403 | 429; retryAfterSeconds?: number }
  | { kind: 'bad-credentials' }
  | { kind: 'repository-missing' }
  /** Label and assignee changes are left out in silence, as without push access. */
  | { kind: 'drop-labels' };

export type Fault = FaultKind & {
  method?: string;
  /** Regular expression that the path (without query) must match; default every path. */
  path?: string;
  /** How many requests it hits; default 1. */
  count?: number;
  /** How many matching requests pass first; default 0. */
  skip?: number;
  /** Chance (0 to 1) for each matching request; default 1. */
  probability?: number;
  /** `after`: the request has its effect, only the answer goes wrong. Default `before`. */
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

/** The answer that a fault gives by itself; undefined when it bends the true one. */
export function answerOfFault(fault: Fault, now: number): Answer | undefined {
  switch (fault.kind) {
    case 'status':
      return statusAnswer(fault);
    case 'redirect':
      return jsonAnswer(
        { message: 'Moved Permanently', url: fault.location, documentation_url: DOCS },
        { status: fault.status ?? 301, headers: { location: fault.location } },
      );
    case 'primary-limit':
      return primaryLimit(fault, now);
    case 'secondary-limit':
      return secondaryLimit(fault);
    case 'bad-credentials':
      return jsonAnswer(messageOf(401, 'Bad credentials'), { status: 401 });
    case 'repository-missing':
      return jsonAnswer(messageOf(404, 'Not Found'), { status: 404 });
    default:
      return undefined;
  }
}

function statusAnswer(fault: Fault & { kind: 'status' }): Answer {
  const headers = fault.headers ?? {};
  if (fault.text === undefined)
    return jsonAnswer(fault.json ?? {}, { status: fault.status, headers });
  const type = { 'content-type': 'text/html; charset=utf-8' };
  return { status: fault.status, text: fault.text, headers: { ...type, ...headers } };
}

function primaryLimit(fault: Fault & { kind: 'primary-limit' }, now: number): Answer {
  const reset = Math.ceil(now / SECOND) + (fault.resetAfterSeconds ?? 60);
  const message = 'API rate limit exceeded for user ID 1.';
  return jsonAnswer(messageOf(fault.status ?? 403, message), {
    status: fault.status ?? 403,
    headers: {
      'x-ratelimit-limit': '5000',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-used': '5000',
      'x-ratelimit-resource': 'core',
      'x-ratelimit-reset': String(reset),
    },
  });
}

function secondaryLimit(fault: Fault & { kind: 'secondary-limit' }): Answer {
  const message =
    'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';
  return jsonAnswer(messageOf(fault.status ?? 403, message), {
    status: fault.status ?? 403,
    headers: { 'retry-after': String(fault.retryAfterSeconds ?? 60) },
  });
}

function messageOf(status: number, message: string): Record<string, string> {
  return { message, documentation_url: DOCS, status: String(status) };
}

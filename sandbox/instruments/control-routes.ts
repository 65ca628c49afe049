import { jsonResponse, Refusal, refusal, type TrackerResponse } from '../tracker/api/response.ts';
import type { Barrier } from './barriers.ts';
import type { TrackerRequest } from '../tracker/api/route.ts';
import type { Tracker } from '../tracker/tracker-api.ts';

/**
 * The controls over HTTP, for a tracker in a process of its own: `POST /_control/<name>` with a
 * JSON array of the arguments that the function of that name takes, `GET /_control/<list>`.
 */

const OPERATIONS = [
  'createIssue',
  'seedIssues',
  'editIssue',
  'relabel',
  'setState',
  'addComment',
  'deleteIssue',
  'transferIssue',
  'deleteRevision',
  'readIssue',
  'createLabel',
  'createField',
  'renameLabel',
  'deleteLabel',
  'renameRepository',
  'editRepository',
  'disableIssues',
  'endVersion',
  'addWebhook',
  'fault',
  'clearFaults',
  'setQuota',
  'setLatency',
  'suspendInstallation',
  'revokeInstallationTokens',
] as const satisfies readonly (keyof Tracker)[];

const HOOK_OPERATIONS = ['hold', 'release', 'drop', 'delay', 'redeliver', 'settled'] as const;

type Operation = (...args: unknown[]) => unknown;

/** Undefined for a request that is no control. */
export type ControlHandler = (request: TrackerRequest) => Promise<TrackerResponse | undefined>;

export function createControlRoutes(tracker: Tracker): ControlHandler {
  const operations = new Map<string, Operation>([
    ...OPERATIONS.map((name) => [name, tracker[name] as Operation] as const),
    ...HOOK_OPERATIONS.map((name) => [`hooks.${name}`, tracker.hooks[name] as Operation] as const),
    ...barrierOperations(tracker),
    ['calls.clear', () => tracker.calls.clear()],
  ]);
  const lists = new Map<string, () => unknown>([
    ['calls', () => tracker.calls.entries],
    ['deliveries', () => tracker.hooks.deliveries],
    ['issues', () => tracker.issues()],
  ]);
  return async (request) => {
    const name = /^\/_control\/([\w.]+)$/.exec(request.path)?.[1];
    if (name === undefined) return undefined;
    const list = lists.get(name);
    if (request.method === 'GET' && list) return jsonResponse(list());
    const operation = operations.get(name);
    if (request.method !== 'POST' || !operation) return refusal(404, `no control ${name}`).response;
    // A page of another site can post forms to loopback, but not JSON.
    if (!/^application\/json\b/.test(request.headers['content-type'] ?? ''))
      return refusal(415, 'controls take application/json').response;
    return runOperation(operation, request);
  };
}

/** Barriers are known by number here. */
function barrierOperations(tracker: Tracker): [string, Operation][] {
  const barriers: Barrier[] = [];
  const at = (number: unknown): Barrier => {
    const barrier = barriers[Number(number)];
    if (barrier) return barrier;
    throw new Error(`no barrier ${Number(number)}`);
  };
  return [
    ['hold', (match) => barriers.push(tracker.hold(match as Parameters<Tracker['hold']>[0])) - 1],
    ['arrived', (barrier, count) => at(barrier).arrived(count as number | undefined)],
    ['open', (barrier) => at(barrier).open()],
  ];
}

async function runOperation(
  operation: Operation,
  { body }: TrackerRequest,
): Promise<TrackerResponse> {
  try {
    const args: unknown = body.length > 0 ? JSON.parse(body.toString()) : [];
    if (!Array.isArray(args)) throw new Error('the body is the array of arguments');
    return jsonResponse((await operation(...(args as unknown[]))) ?? null);
  } catch (error) {
    if (error instanceof Refusal) return error.response;
    return refusal(400, error instanceof Error ? error.message : 'failed').response;
  }
}

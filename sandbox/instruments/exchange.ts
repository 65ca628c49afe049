import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#shared/clock.ts';
import type { TrackerResponse } from '../tracker/api/response.ts';
import type { Exchange } from '../tracker/api/http-server.ts';
import type { Responded } from '../tracker/api/respond.ts';
import type { TrackerRequest } from '../tracker/api/route.ts';
import type { CallLog } from './call-log.ts';
import { type Fault, type Faults, responseOfFault } from './faults.ts';
import type { Barriers } from './barriers.ts';

/** The tracker, and the instruments before and behind it. */
export type InstrumentedTracker = {
  faults: Faults;
  barriers: Barriers;
  calls: CallLog;
  clock: Pick<Clock, 'now'>;
  /** Real milliseconds that every response takes at least. */
  latency: { ms: number };
  /** The tracker, which knows nothing of its instruments. */
  respond: (request: TrackerRequest, options: { dropLabels: boolean }) => Responded;
};

/** The tracker's response to one request, late, held back, bent or lost as the test has it. */
export function createExchange(
  tracker: InstrumentedTracker,
): (request: TrackerRequest) => Promise<Exchange> {
  const { faults, barriers, calls, latency } = tracker;
  return async (request) => {
    if (latency.ms > 0) await sleep(latency.ms);
    await barriers.pass(request, 'before');
    const fault = faults.next(request);
    const { response, billed } = respondWithFault(tracker, request, fault);
    await barriers.pass(request, 'after');
    if (fault?.kind === 'slow') await sleep(fault.ms);
    const lost = lossOf(fault);
    calls.record(request, { status: lost ? 0 : response.status, billed });
    return lost ?? { kind: 'response', response };
  };
}

/** No response will leave. */
function lossOf(fault: Fault | undefined): Exclude<Exchange, { kind: 'response' }> | undefined {
  return fault?.kind === 'hang' || fault?.kind === 'reset' ? { kind: fault.kind } : undefined;
}

function respondWithFault(
  { respond, clock }: InstrumentedTracker,
  request: TrackerRequest,
  fault: Fault | undefined,
): Responded {
  const dropLabels = fault?.kind === 'drop-labels';
  if (!fault) return respond(request, { dropLabels });
  const made = responseOfFault(fault, clock.now());
  if ((made || lossOf(fault)) && fault.when !== 'after')
    return { response: made ?? { status: 0, headers: {} }, billed: false };
  const own = respond(request, { dropLabels });
  return { ...own, response: made ?? bent(own.response, fault) };
}

function bent(response: TrackerResponse, { kind }: Fault): TrackerResponse {
  const { status, headers, body } = response;
  if (kind === 'truncated' && body)
    return { status, headers, body: body.subarray(0, Math.ceil(body.length / 2)) };
  if (kind === 'empty') return { status, headers };
  return response;
}

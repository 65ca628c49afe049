import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#shared/clock.ts';
import type { Answer } from '../tracker/api/answer.ts';
import type { Exchange } from '../tracker/api/http-server.ts';
import type { Response } from '../tracker/api/respond.ts';
import type { TrackerRequest } from '../tracker/api/route.ts';
import type { CallLog } from './call-log.ts';
import type { Fault, Faults } from './faults.ts';
import { answerOfFault } from './faults.ts';
import type { Gates } from './gates.ts';

export type ExchangeDeps = {
  faults: Faults;
  gates: Gates;
  calls: CallLog;
  clock: Pick<Clock, 'now'>;
  /** Real milliseconds that every answer takes at least. */
  latency: { ms: number };
  /** The tracker, which knows nothing of its instruments. */
  respond: (request: TrackerRequest, options: { dropLabels: boolean }) => Response;
};

/** The tracker's answer to one request, late, held back, bent or lost as the test wants it. */
export function createExchange(deps: ExchangeDeps): (request: TrackerRequest) => Promise<Exchange> {
  const { faults, gates, calls, latency } = deps;
  return async (request) => {
    if (latency.ms > 0) await sleep(latency.ms);
    await gates.pass(request, 'before');
    const fault = faults.next(request);
    const { answer, billed } = respondWithFault(deps, request, fault);
    await gates.pass(request, 'after');
    if (fault?.kind === 'slow') await sleep(fault.ms);
    const lost = lossOf(fault);
    calls.record(request, { status: lost ? 0 : answer.status, billed });
    return lost ?? { kind: 'answer', answer };
  };
}

/** No answer will leave. */
function lossOf(fault: Fault | undefined): Exclude<Exchange, { kind: 'answer' }> | undefined {
  return fault?.kind === 'hang' || fault?.kind === 'reset' ? { kind: fault.kind } : undefined;
}

function respondWithFault(
  { respond, clock }: ExchangeDeps,
  request: TrackerRequest,
  fault: Fault | undefined,
): Response {
  const dropLabels = fault?.kind === 'drop-labels';
  if (!fault) return respond(request, { dropLabels });
  const made = answerOfFault(fault, clock.now());
  if ((made || lossOf(fault)) && fault.when !== 'after')
    return { answer: made ?? { status: 0, headers: {} }, billed: false };
  const response = respond(request, { dropLabels });
  return { ...response, answer: made ?? bent(response.answer, fault) };
}

function bent(answer: Answer, { kind }: Fault): Answer {
  const { status, headers, body } = answer;
  if (kind === 'truncated' && body)
    return { status, headers, body: body.subarray(0, Math.ceil(body.length / 2)) };
  if (kind === 'empty') return { status, headers };
  return answer;
}

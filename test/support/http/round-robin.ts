import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { sleepUntilAborted, systemClock } from '#shared/clock.ts';
import { openServer } from './local-server.ts';

/** A plain load balancer. */
export type RoundRobin = {
  url: string;
  /** True when the backend answered its last health check with 200. */
  isHealthy(backend: string): boolean;
  /** Requests that reached a backend and got no response from it: the caller saw a 502. */
  lost(): readonly string[];
  /** Requests that a backend refused to take, so that the next one got them. */
  refused(): readonly string[];
};

const CHECK_EVERY_MS = 100;

/**
 * Deals requests out to one backend after the other, over connections that it keeps, as far as their
 * `/readyz` says 200. Only a refused connection has it try the next one: that request was never sent.
 */
export async function startRoundRobin(backends: readonly string[]): Promise<RoundRobin> {
  const agent = new Agent({ keepAlive: true });
  const healthy = new Set(backends);
  const lost: string[] = [];
  const refused: string[] = [];
  const stopped = new AbortController();
  const checking = backends.map((backend) => keepChecking(backend, healthy, stopped.signal));
  let turn = 0;
  const deal = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(incoming);
    for (let tries = 0; tries < backends.length; tries += 1) {
      const candidates = backends.filter((backend) => healthy.has(backend));
      const backend = candidates[turn % candidates.length];
      turn += 1;
      if (backend === undefined) break;
      const cause = await forward({ backend, agent, body }, incoming, response);
      if (cause === undefined) return;
      const failed = `${incoming.method} ${incoming.url} at ${backend}: ${cause}`;
      if (cause === 'ECONNREFUSED') {
        refused.push(failed);
        continue;
      }
      lost.push(failed);
      response.writeHead(502).end();
      return;
    }
    response.writeHead(503).end();
  };
  onTestFinished(async () => {
    stopped.abort(new Error('the test is over'));
    await Promise.all(checking);
    agent.destroy();
  });
  return {
    url: await openServer((incoming, response) => void deal(incoming, response)),
    isHealthy: (backend) => healthy.has(backend),
    lost: () => lost,
    refused: () => refused,
  };
}

async function keepChecking(
  backend: string,
  healthy: Set<string>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const isReady = await fetch(`${backend}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) healthy.add(backend);
    else healthy.delete(backend);
    await sleepUntilAborted(systemClock, CHECK_EVERY_MS, signal);
  }
}

type Forwarding = { backend: string; agent: Agent; body: string };

/** Resolves with the cause when there is no response to pass on. */
function forward(
  { backend, agent, body }: Forwarding,
  { method, url, headers }: IncomingMessage,
  response: ServerResponse,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const { connection: _ofTheCaller, ...passed } = headers;
    const sent = request(
      new URL(url ?? '', backend),
      { agent, ...(method && { method }), headers: passed },
      (answer) => {
        const { connection: _ofTheBackend, ...rest } = answer.headers;
        response.writeHead(answer.statusCode ?? 502, rest);
        answer.pipe(response);
        answer.once('end', () => resolve(undefined));
        answer.once('error', () => resolve('cut off'));
      },
    );
    sent.once('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => resolve(code));
    sent.end(body);
  });
}

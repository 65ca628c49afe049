import { type IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import { z } from 'zod';
import { openServer } from '../../support/http/local-server.ts';

const require = createRequire(import.meta.url);

const exchange = z.object({
  method: z.string(),
  path: z.string(),
  status: z.int(),
  response: z.unknown(),
  headers: z.record(z.string(), z.coerce.string()),
});

/** One call of the real API and its answer. */
export type Exchange = z.infer<typeof exchange>;

/** Real traffic of the API as `@octokit/fixtures` keeps it, in the order of the recording. */
export function recorded(scenario: string): Exchange[] {
  const file = `@octokit/fixtures/scenarios/api.github.com/${scenario}/normalized-fixture.json`;
  return z.array(exchange).parse(require(file));
}

const examples = z.array(
  z.object({
    name: z.string(),
    examples: z.array(z.looseObject({ action: z.string().optional() })),
  }),
);

export type Payload = z.infer<typeof examples>[number]['examples'][number];

/** Real webhook payloads of one event, as `@octokit/webhooks-examples` keeps them. */
export function examplesOf(event: string): Payload[] {
  const all = examples.parse(require('@octokit/webhooks-examples'));
  return all.filter(({ name }) => name === event).flatMap(({ examples }) => examples);
}

type ReplayedCall = { method: string; target: string; headers: IncomingHttpHeaders };

export type Replay = {
  url: string;
  calls: ReplayedCall[];
  /** Answers GETs of a path (without its query) with recorded status, headers and body. */
  play(
    path: string,
    ...answers: readonly Pick<Exchange, 'status' | 'headers' | 'response'>[]
  ): void;
};

/** Of one connection, or of a body that was encoded otherwise. */
const HOP_HEADERS = new Set([
  'connection',
  'content-length',
  'content-encoding',
  'transfer-encoding',
]);

/**
 * A server that says what the real one said. A path with several answers gives one after the other,
 * and the last one for ever.
 */
export async function startReplay(): Promise<Replay> {
  const calls: ReplayedCall[] = [];
  const answers = new Map<string, Pick<Exchange, 'status' | 'headers' | 'response'>[]>();
  const url = await openServer((request, response) => {
    const { method = '', url: target = '', headers } = request;
    calls.push({ method, target, headers });
    const queue = answers.get(target.split('?', 1)[0] ?? '') ?? [];
    const answer = queue.length > 1 ? queue.shift() : queue[0];
    if (!answer) return void response.writeHead(501).end();
    const kept = Object.entries(answer.headers).filter(([name]) => !HOP_HEADERS.has(name));
    response.writeHead(answer.status, Object.fromEntries(kept));
    return void response.end(answer.response === '' ? '' : JSON.stringify(answer.response));
  });
  return {
    url,
    calls,
    play: (path, ...given) => void answers.set(path, [...given]),
  };
}

/** Cost of a request in processor time, for our service and for those that it is measured against. */
import autocannon from 'autocannon';
import type { Running } from './processes.ts';
import { median } from './row.ts';

/** A response of ours, for those who are to send the same. */
export type Recorded = { path: string; headers: Record<string, string>; text: string };

export type Request = {
  /** With its query. */
  target: string;
  headers: Record<string, string>;
};

const CONNECTIONS = 20;

/** Source of a figure. */
export const COST_SOURCE = `processor time of a request, ${CONNECTIONS} connections, in turns`;

/** Headers that every server of Node adds by itself. */
const OWN_HEADERS = new Set(['connection', 'content-length', 'date', 'keep-alive']);

/** Records a response of our service. @throws Error for every status but 200 */
export async function record(
  { url }: Pick<Running, 'url'>,
  { target, headers }: Request,
): Promise<Recorded> {
  const response = await fetch(`${url}${target}`, { headers });
  if (response.status !== 200) throw new Error(`${target} got ${response.status}`);
  const sent = [...response.headers].filter(([name]) => !OWN_HEADERS.has(name));
  const path = new URL(target, url).pathname;
  return { path, headers: Object.fromEntries(sent), text: await response.text() };
}

/** µs that a request takes of each server's processes: the middle of some rounds in turns. */
export async function compareCosts<Name extends string>(
  servers: Readonly<Record<Name, Running>>,
  request: Request,
  { seconds, rounds }: { seconds: number; rounds: number },
): Promise<Record<Name, number>> {
  const names = Object.keys(servers) as Name[];
  const costs = names.map(() => [] as number[]);
  for (let round = 0; round <= rounds; round += 1)
    for (const [at, name] of names.entries()) {
      const cost = await costOf(servers[name], request, seconds);
      if (round > 0) costs[at]?.push(cost); // the first warms up
    }
  const middle = names.map((name, at) => [name, median(costs[at] ?? [])]);
  return Object.fromEntries(middle) as Record<Name, number>;
}

async function costOf(
  server: Running,
  { target, headers }: Request,
  duration: number,
): Promise<number> {
  const before = server.processorMs();
  const url = `${server.url}${target}`;
  const result = await autocannon({ url, connections: CONNECTIONS, duration, headers });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${url} did not answer 200`);
  return ((server.processorMs() - before) * 1000) / result.requests.total;
}

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import autocannon from 'autocannon';
import { type Issuer, startIssuer } from '#sandbox/issuer/issuer.ts';
import { type Running, start } from '../processes.ts';
import { type BenchRow, median } from '../row.ts';
import { serve, writeConfig } from '../service.ts';
import type { BenchEngine } from '../stores.ts';
import { spec } from './world.ts';

/** How long a round is, and how many there are. */
export type TokenReadScale = { seconds: number; rounds: number };

const artifact = {
  id: 'bench-api',
  version: '1.0.0',
  type: 'API',
  owner: 'team-bench',
  title: 'Bench API',
  description: 'What a catalog is read for.',
  spec,
};

/** Reading one version with a token of a real issuer, against bare Fastify with the same bytes. */
export async function measureTokenRead(
  { folder, newStore }: BenchEngine,
  scale: TokenReadScale,
): Promise<BenchRow[]> {
  const issuer = await startIssuer();
  const tracker = await start(['bench/tracker-process.ts', '--issues=10']);
  const identity = { issuer: issuer.url, audience: issuer.audience };
  const storeUrl = await newStore();
  const config = writeConfig(folder, { storeUrl, trackerUrl: tracker.url, settings: { identity } });
  const ours = await serve(config);
  try {
    const token = await tokenOf(issuer);
    await publish(ours, token);
    return [await compare({ ours, token, directory: folder }, scale)];
  } finally {
    await ours.stop();
    await tracker.stop();
    await issuer.close();
  }
}

type World = { ours: Running; token: string; directory: string };

async function compare(
  { ours, token, directory }: World,
  { seconds, rounds }: TokenReadScale,
): Promise<BenchRow> {
  const url = `${ours.url}/api/v1/catalog/${artifact.id}`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  const file = path.join(directory, 'bytes.json');
  writeFileSync(file, await answer.text());
  const bare = await start(['bench/leads/bare-server.ts', file]);
  try {
    const ratios: number[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const theirs = await load(`${bare.url}/bytes`, token, round === 0 ? 1 : seconds);
      const mine = await load(url, token, round === 0 ? 1 : seconds);
      if (round > 0) ratios.push(mine / theirs); // the first round warms up
    }
    return {
      what: 'catalog read with token check ÷ bare Fastify',
      value: median(ratios),
      wanted: { atLeast: 0.6 },
      source: 'autocannon, 20 connections, in turns',
    };
  } finally {
    await bare.stop();
  }
}

async function load(url: string, token: string, seconds: number): Promise<number> {
  const result = await autocannon({
    url,
    connections: 20,
    duration: seconds,
    headers: { authorization: `Bearer ${token}` },
  });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${url} did not answer 200`);
  return result.requests.average;
}

async function tokenOf({ tokenEndpoint, machine, scopes }: Issuer): Promise<string> {
  const credential = Buffer.from(`${machine.clientId}:${machine.clientSecret}`).toString('base64');
  const answer = await fetch(tokenEndpoint, {
    method: 'POST',
    headers: { authorization: `Basic ${credential}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: scopes }),
  });
  return ((await answer.json()) as { access_token: string }).access_token;
}

async function publish({ url }: Running, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const base = `${url}/api/v1/catalog`;
  const body = JSON.stringify(artifact);
  const created = await fetch(base, { method: 'POST', headers, body });
  const published = await fetch(`${base}/${artifact.id}/publish?version=${artifact.version}`, {
    method: 'POST',
    headers: { authorization: headers.authorization },
  });
  if (!created.ok || !published.ok) throw new Error('the artifact could not be published');
}

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Issuer, startIssuer } from '#sandbox/issuer/issuer.ts';
import { type Running, start } from '../processes.ts';
import { compareCosts, COST_SOURCE, record } from '../rivals.ts';
import type { BenchRow } from '../row.ts';
import { serve, startTracker, writeConfig } from '../service.ts';
import type { BenchEngine } from '../stores.ts';
import { spec } from './world.ts';

/** Length and number of rounds. */
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
  const tracker = await startTracker(10);
  const identity = { issuer: issuer.url, audience: issuer.audience };
  const storeUrl = await newStore();
  const config = writeConfig(folder, { storeUrl, trackerUrl: tracker.url, settings: { identity } });
  const ours = await serve(config);
  try {
    const token = await tokenOf(issuer);
    await publish(ours, token);
    return [await compare({ ours, token, folder }, scale)];
  } finally {
    await ours.stop();
    await tracker.stop();
    await issuer.close();
  }
}

type World = { ours: Running; token: string; folder: string };

async function compare({ ours, token, folder }: World, scale: TokenReadScale): Promise<BenchRow> {
  const request = {
    target: `/api/v1/catalog/${artifact.id}`,
    headers: { authorization: `Bearer ${token}` },
  };
  const file = path.join(folder, 'recorded.json');
  writeFileSync(file, JSON.stringify([await record(ours, request)]));
  const bare = await start(['bench/bare-server.ts', file]);
  try {
    const costs = await compareCosts({ ours, bare }, request, scale);
    return {
      what: 'catalog read with token check ÷ bare Fastify with the same headers',
      value: costs.bare / costs.ours,
      wanted: { atLeast: 0.6 },
      source: COST_SOURCE,
      note: `${costs.ours.toFixed(0)} µs, theirs ${costs.bare.toFixed(0)} µs`,
    };
  } finally {
    await bare.stop();
  }
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

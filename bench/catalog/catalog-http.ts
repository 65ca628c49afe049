import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import autocannon from 'autocannon';
import { startIssuer } from '#sandbox/issuer/issuer.ts';
import type { Issuer } from '#sandbox/issuer/issuer.ts';
import { start } from '../processes.ts';
import type { Running } from '../processes.ts';
import { median, ratioRow } from '../row.ts';
import type { BenchRow } from '../row.ts';

/** How long a round is, and how many there are. */
export type CatalogHttpScale = { seconds: number; rounds: number };

const WORDS = 'payment order stock invoice carrier refund basket tariff ledger claim'.split(' ');

const artifact = {
  id: 'bench-api',
  version: '1.0.0',
  type: 'API',
  owner: 'team-bench',
  title: 'Bench API',
  description: 'What a catalog is read for.',
  spec: {
    openapi: '3.1.0',
    info: { title: 'Bench', version: '1.0.0' },
    paths: Object.fromEntries(
      WORDS.map((word) => [`/${word}`, { get: { responses: { 200: { description: word } } } }]),
    ),
  },
};

/** Reading one version with a token of a real issuer, against bare Fastify with the same bytes. */
export async function measureCatalogHttp(scale: CatalogHttpScale): Promise<BenchRow[]> {
  const directory = mkdtempSync(path.join(tmpdir(), 'trackport-bench-'));
  const issuer = await startIssuer();
  const tracker = await start(['bench/tracker-process.ts', '--issues=10']);
  const configFile = path.join(directory, 'trackport.yaml');
  writeFileSync(
    configFile,
    [
      `store: { url: "sqlite:${directory}/trackport.db" }`,
      `tracker: { repository: acme/leads, apiUrl: "${tracker.url}", auth: { token: sandbox-admin-token } }`,
      `identity: { issuer: "${issuer.url}", audience: ${issuer.audience} }`,
    ].join('\n'),
  );
  const ours = await start(['bin/trackport.js', 'serve', `--config=${configFile}`, '--port=0']);
  try {
    const token = await tokenOf(issuer);
    await publish(ours, token);
    return [await compare({ ours, token, directory }, scale)];
  } finally {
    await ours.stop();
    await tracker.stop();
    await issuer.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

type World = { ours: Running; token: string; directory: string };

async function compare(
  { ours, token, directory }: World,
  { seconds, rounds }: CatalogHttpScale,
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
    return ratioRow('catalog read with token check ÷ bare Fastify', median(ratios), {
      atLeast: 0.6,
    });
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

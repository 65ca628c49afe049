/**
 * Server that hot reads are measured against: an afternoon's work of a good engineer, with Fastify's stock
 * plug-ins, an LRU of keys by SHA-256, and the same leads in memory. Arguments: a file with `Recorded[]` in JSON, of
 * the list and of one lead; the key.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import etag from '@fastify/etag';
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import fastify from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Recorded } from '../rivals.ts';

const [file = '', issuedKey = ''] = process.argv.slice(2);
const [list, detail] = JSON.parse(readFileSync(file, 'utf8')) as Recorded[];
const leads = JSON.parse(list?.text ?? '') as object;
const lead = JSON.parse(detail?.text ?? '') as { id: string };

const digestOf = (key: string): string => createHash('sha256').update(key).digest('hex');
const store = new Map([[digestOf(issuedKey), { name: 'bench' }]]);
const consumers = new LRUCache<string, { name: string }>({ max: 1000, ttl: 60_000 });

function consumerOf(key: unknown): { name: string } | undefined {
  if (typeof key !== 'string') return undefined;
  const digest = digestOf(key);
  const consumer = consumers.get(digest) ?? store.get(digest);
  if (consumer) consumers.set(digest, consumer);
  return consumer;
}

const app = fastify();
app.addHook('onRequest', async (request, reply) => {
  if (!consumerOf(request.headers['x-api-key']))
    return reply.code(401).send({ code: 'unauthorized' });
  return undefined;
});
await app.register(helmet);
await app.register(etag);
await app.register(rateLimit, {
  max: 1_000_000,
  timeWindow: '1 minute',
  keyGenerator: ({ headers }) => consumerOf(headers['x-api-key'])?.name ?? '',
});
app.get('/api/v1/leads', (_request, reply) =>
  reply.header('cache-control', 'private, no-cache').send(leads),
);
app.get<{ Params: { id: string } }>('/api/v1/leads/:id', ({ params }, reply) =>
  params.id === lead.id
    ? reply.header('cache-control', 'private, no-cache').send(lead)
    : reply.code(404).send({ code: 'lead-not-found' }),
);
const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${JSON.stringify({ url })}\n`);
process.on('SIGTERM', () => void app.close().then(() => process.exit(0)));

/**
 * Server that hot reads are measured against: a bare Fastify that sends the bytes and headers which our service has sent,
 * and begins streams. Arguments: a file with `Recorded[]` in JSON, or none.
 */
import { readFileSync } from 'node:fs';
import fastify from 'fastify';
import type { Recorded } from './rivals.ts';

const [file] = process.argv.slice(2);
const recorded = (file ? JSON.parse(readFileSync(file, 'utf8')) : []) as Recorded[];
const app = fastify();
for (const { path, headers, text } of recorded) {
  const bytes = Buffer.from(text);
  app.get(path, (_request, reply) => reply.headers(headers).send(bytes));
}
if (!file)
  app.get('/api/v1/leads/changes', (_request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream' });
    reply.raw.write('id: 1\n\n');
  });
const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${JSON.stringify({ url })}\n`);
process.on('SIGTERM', () => void app.close().then(() => process.exit(0)));

/**
 * What the hot paths are measured against: a bare Fastify that sends the bytes of a file, and begins streams.
 * Arguments: the file.
 */
import { readFileSync } from 'node:fs';
import fastify from 'fastify';

const bytes = readFileSync(process.argv[2] ?? '');
const app = fastify();
app.get('/bytes', (_request, reply) =>
  reply.header('content-type', 'application/json; charset=utf-8').send(bytes),
);
app.get('/api/v1/leads/changes', (_request, reply) => {
  reply.hijack();
  reply.raw.writeHead(200, { 'content-type': 'text/event-stream' });
  reply.raw.write('id: 1\n\n');
});
const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${JSON.stringify({ url })}\n`);
process.on('SIGTERM', () => void app.close().then(() => process.exit(0)));

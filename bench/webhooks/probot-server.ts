/**
 * What taking the tracker's webhook is measured against: Probot as its middleware, with a handler
 * that does nothing, at its own default log level. Prints one JSON line with its address.
 * Arguments: the webhook's secret.
 */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createNodeMiddleware, Probot } from 'probot';

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const probot = new Probot({ appId: 1, privateKey, secret: process.argv[2] ?? '' });
const middleware = await createNodeMiddleware(
  (app) => {
    app.on('issues', () => undefined);
  },
  { probot, webhooksPath: '/webhook' },
);
const server = createServer((request, response) => void middleware(request, response));
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`);
});
process.on('SIGTERM', () => process.exit(0));

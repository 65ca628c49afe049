/** What time to ready and memory are measured against: the same packages imported, and a listener. */
import '@octokit/auth-app';
import '@octokit/core';
import '@octokit/rest';
import '@octokit/webhooks';
import 'better-sqlite3';
import 'commander';
import 'fastest-levenshtein';
import 'fastify-type-provider-zod';
import 'jose';
import 'lru-cache';
import 'pino';
import 'prom-client';
import 'yaml';
import 'zod';
import fastify from 'fastify';

const app = fastify();
app.get('/', () => 'ready');
const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${JSON.stringify({ url })}\n`);
process.on('SIGTERM', () => void app.close().then(() => process.exit(0)));

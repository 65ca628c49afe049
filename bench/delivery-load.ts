/**
 * A process that sends signed deliveries over keep-alive connections, one at a time on each, for a
 * given time, and prints `{ calls, seconds, refused }`. Raw sockets, because an HTTP client would
 * cost more than the server that is measured.
 * Arguments: port, connections, seconds, events per delivery.
 */
import { createSecretKey } from 'node:crypto';
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { sign } from '#partners/signature.ts';

const [port = 0, connections = 50, seconds = 3, eventsPerDelivery = 1] = process.argv
  .slice(2)
  .map(Number);
const key = createSecretKey(Buffer.from('bench-secret'));
const path = '/api/v1/webhooks/partners/crm-one/deletions';
const endsAt = performance.now() + seconds * 1000;
const run = `${process.pid}-${Date.now()}`;
let made = 0;
let calls = 0;
let refused = 0;

function nextDelivery(): Buffer {
  const events = Array.from({ length: eventsPerDelivery }, () => {
    made += 1;
    return {
      eventType: 'lead.deletion',
      eventId: `${run}-${made}`,
      externalId: `crm-1-${made}`,
      email: `person-${made}@example.com`,
      occurredAt: '2026-09-21T12:00:00Z',
    };
  });
  const body = Buffer.from(JSON.stringify(eventsPerDelivery === 1 ? events[0] : events));
  const content = { method: 'POST', uri: '', body, timestamp: '' };
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    `X-Partner-Signature: ${sign('hmac-sha256', key, content)}`,
    `Content-Length: ${body.length}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
}

async function sendUntilTheEnd(): Promise<void> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  let received = '';
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject).on('close', () => resolve());
    socket.on('connect', () => socket.write(nextDelivery()));
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const headEnd = received.indexOf('\r\n\r\n');
      const length = /content-length: (\d+)/i.exec(received)?.[1];
      if (headEnd < 0 || received.length < headEnd + 4 + Number(length)) return;
      calls += 1;
      if (!received.startsWith('HTTP/1.1 202')) refused += 1;
      received = '';
      if (performance.now() < endsAt) socket.write(nextDelivery());
      else socket.end();
    });
  });
}

const startedAt = performance.now();
await Promise.all(Array.from({ length: connections }, sendUntilTheEnd));
const took = (performance.now() - startedAt) / 1000;
process.stdout.write(`${JSON.stringify({ calls, refused, seconds: took })}\n`);

/**
 * A process that sends signed deliveries over keep-alive connections, one at a time on each, for a
 * given time, and prints `{ calls, seconds, refused }`.
 * Arguments: port, connections, seconds, events per delivery.
 */
import { createSecretKey } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { fixedSignings } from '#partners/intake/signing.ts';
import { PARTNER_SECRET } from '../partner.ts';
import { sendAll } from '../webhooks/raw-sender.ts';

const [port = 0, connections = 50, seconds = 3, eventsPerDelivery = 1] = process.argv
  .slice(2)
  .map(Number);
const key = createSecretKey(Buffer.from(PARTNER_SECRET));
const path = '/api/v1/webhooks/partners/crm-one/deletions';
const endsAt = performance.now() + seconds * 1000;
const run = `${process.pid}-${Date.now()}`;
let made = 0;

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
    `X-Partner-Signature: ${fixedSignings['hmac-sha256'].sign(key, content)}`,
    `Content-Length: ${body.length}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
}

const sent = await sendAll({
  port,
  connections,
  next: () => (performance.now() < endsAt ? nextDelivery() : undefined),
});
process.stdout.write(`${JSON.stringify(sent)}\n`);

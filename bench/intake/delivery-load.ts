/**
 * A process that sends signed deliveries over keep-alive connections, one at a time on each, for a
 * given time, and prints `{ calls, seconds, refused }`.
 * Arguments: port, connections, seconds, events per delivery.
 */
import { createSecretKey } from 'node:crypto';
import autocannon from 'autocannon';
import { fixedSignings } from '#partners/intake/signing.ts';
import { PARTNER_SECRET } from '../partner.ts';

const [port = 0, connections = 50, duration = 3, eventsPerDelivery = 1] = process.argv
  .slice(2)
  .map(Number);
const key = createSecretKey(Buffer.from(PARTNER_SECRET));
const run = `${process.pid}-${Date.now()}`;
let made = 0;

/** Each with events of its own. */
const setupRequest = (request: autocannon.Request): autocannon.Request => {
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
  const signature = fixedSignings['hmac-sha256'].sign(key, content);
  const headers = { 'content-type': 'application/json', 'x-partner-signature': signature };
  return { ...request, method: 'POST', headers, body };
};

const {
  requests,
  duration: seconds,
  ...result
} = await autocannon({
  url: `http://127.0.0.1:${port}/api/v1/webhooks/partners/crm-one/deletions`,
  connections,
  duration,
  requests: [{ setupRequest }],
});
const refused = result.non2xx + result.errors;
process.stdout.write(`${JSON.stringify({ calls: requests.total, refused, seconds })}\n`);

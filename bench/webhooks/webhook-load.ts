/**
 * A process that sends signed deliveries of the tracker's webhook, made before the clock starts, and
 * prints `{ calls, seconds, refused }`.
 * Arguments: url, secret, kind (`distinct`, `repeated`, `foreign`), deliveries, connections, number of
 * the first issue.
 */
import { createHmac, randomUUID } from 'node:crypto';
import examples from '@octokit/webhooks-examples/api.github.com/index.json' with { type: 'json' };
import { SECOND } from '#shared/clock.ts';
import { sendAll } from './raw-sender.ts';

const [url = '', secret = '', kind = 'distinct', ...numbers] = process.argv.slice(2);
const [count = 1000, connections = 10, first = 1] = numbers.map(Number);
const { port, pathname } = new URL(url);

/** GitHub's own example of an edited issue, about 11 KB. */
const issueEvents = examples.find(({ name }) => name === 'issues')?.examples as
  | readonly { action?: string }[]
  | undefined;
const template = JSON.stringify(issueEvents?.find(({ action }) => action === 'edited'));
const updatedFrom = Math.floor(Date.now() / SECOND) * SECOND;

function payloadOf(index: number): string {
  const payload = JSON.parse(template) as {
    issue: Record<string, unknown>;
    repository: Record<string, unknown>;
  };
  const name = kind === 'foreign' ? 'elsewhere' : 'leads';
  const number = kind === 'repeated' ? 1 : first + index;
  Object.assign(payload.repository, { name, full_name: `acme/${name}`, owner: { login: 'acme' } });
  Object.assign(payload.issue, {
    number,
    labels: [{ name: 'approved' }],
    body: `### Email\n\nperson${number}@example.com\n\n### Message\n\nPlease call me.`,
    updated_at: new Date(updatedFrom + (first + index) * SECOND).toISOString(),
  });
  return JSON.stringify(payload);
}

function requestOf(index: number): Buffer {
  const body = Buffer.from(payloadOf(index));
  const head = [
    `POST ${pathname} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    'User-Agent: GitHub-Hookshot/bench',
    'X-GitHub-Event: issues',
    `X-GitHub-Delivery: ${randomUUID()}`,
    `X-Hub-Signature-256: sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    `Content-Length: ${body.length}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
}

const requests = Array.from({ length: count }, (_, index) => requestOf(index));
let at = 0;
const next = (): Buffer | undefined => {
  at += 1;
  return requests[at - 1];
};
const sent = await sendAll({ port: Number(port), connections, next });
process.stdout.write(`${JSON.stringify(sent)}\n`);

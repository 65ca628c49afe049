/** Partners of Standard Webhooks and of a hash of their own, over HTTP. */
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { signRequest } from '#partners/intake/signed-request.ts';
import { createPartner, type PartnerSettings } from '#partners/partner.ts';
import { buildPartnerServer, NOW, PARTNER_URL } from '../../partners/support.ts';
import { type World } from '../../support/world.ts';
import { secretsOf } from '../../support/partners.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

const settings: Record<string, PartnerSettings> = {
  hooks: { scheme: 'standard-webhooks', secrets: secretsOf('whsec_c2Vjb25k', SECRET) },
  slack: {
    scheme: 'hmac',
    secrets: secretsOf('a secret'),
    signature: {
      header: 'X-Slack-Signature',
      algorithm: 'sha256',
      encoding: 'hex',
      prefix: 'v0=',
      content: 'v0:{timestamp}:{url}:{body}',
      timestamp: { header: 'X-Slack-Request-Timestamp', unit: 's', tolerance: 300_000 },
    },
  },
};

const pathOf = (partner: string) => `/api/v1/webhooks/partners/${partner}/deletions`;

function send({ app }: World, partner: string, headers: object, body: string) {
  const all = { 'content-type': 'application/json', ...headers };
  return app.inject({ method: 'POST', url: pathOf(partner), headers: all, body });
}

function signed(id: string, body: string, messageId = 'msg_1'): Record<string, string> {
  const uri = PARTNER_URL + pathOf(id);
  const partner = createPartner(id, settings[id] as PartnerSettings);
  return signRequest(partner, { uri, body: Buffer.from(body), id: messageId }, NOW) ?? {};
}

/** As the library of Standard Webhooks signs. */
const webhook = (id: string, body: string) => ({
  'webhook-id': id,
  'webhook-timestamp': String(NOW / 1000),
  'webhook-signature': new Webhook(SECRET).sign(id, new Date(NOW), body),
});

async function eventsOf({ partners }: World, id: string) {
  return (await partners.receipts.read(id)).events;
}

test.each(['hooks', 'slack'])('%s: a good call is taken, by any active secret', async (partner) => {
  const server = buildPartnerServer({ partners: settings });
  const body = '{"leadId":"1"}';
  expect((await send(server, partner, signed(partner, body), body)).statusCode).toBe(202);
  expect((await send(server, 'hooks', webhook('msg_2', body), body)).statusCode).toBe(202);
});

test('the id of the message is the event’s, unless the body has one', async () => {
  const server = buildPartnerServer({ partners: settings });
  const body = '[{"type":"contact.deleted","data":{"leadId":"1"}},{"eventId":"own","leadId":"2"}]';
  const first = await send(server, 'hooks', webhook('msg_1', body), body);
  expect(await eventsOf(server, first.json<{ id: string }>().id)).toMatchObject([
    { eventType: 'contact.deleted', eventId: 'msg_1' },
    { eventId: 'own' },
  ]);
});

test('a message that comes again is a repeat, and one of another id is not', async () => {
  const server = buildPartnerServer({ partners: settings });
  const [body, again] = ['{"leadId":"1"}', '{"leadId": "1"}'];
  const first = await send(server, 'hooks', webhook('msg_1', body), body);
  const repeat = await send(server, 'hooks', webhook('msg_1', again), again);
  const other = await send(server, 'hooks', webhook('msg_2', body), body);
  expect(first.headers['idempotent-replayed']).toBeUndefined();
  expect(repeat.headers['idempotent-replayed']).toBe('true');
  expect(repeat.json()).toEqual(first.json());
  expect(other.headers['idempotent-replayed']).toBeUndefined();
});

test('every call that cannot be verified gets the 401 of an unknown partner', async () => {
  const server = buildPartnerServer({ partners: settings });
  const body = '{"leadId":"1"}';
  const bare = (answer: Awaited<ReturnType<typeof send>>) => [
    answer.statusCode,
    { ...answer.headers, date: '', 'x-request-id': '' },
    { ...answer.json<object>(), instance: '' },
  ];
  const unknown = bare(await send(server, 'nobody', webhook('msg_1', body), body));
  expect(unknown[0]).toBe(401);
  const { 'webhook-id': _, ...withoutId } = webhook('msg_1', body);
  for (const [partner, headers, sent] of [
    ['hooks', withoutId, body],
    ['hooks', { ...webhook('msg_1', body), 'webhook-id': 'msg_2' }, body],
    ['hooks', { ...webhook('msg_1', body), 'webhook-timestamp': '1790000003' }, body],
    ['hooks', webhook('msg_1', body), `${body} `],
    ['hooks', signed('slack', body), body],
    ['slack', signed('slack', body), `${body} `],
    ['slack', webhook('msg_1', body), body],
    ['slack', {}, body],
  ] as const)
    expect(bare(await send(server, partner, headers, sent))).toEqual(unknown);
});

test('a refusal of a signature that covers the address names the address in the log', async () => {
  const lines: object[] = [];
  const server = buildPartnerServer({ partners: settings });
  server.app.addHook('onResponse', async (request) => void lines.push({ ...request.logFacts }));
  const body = '{"leadId":"1"}';
  await send(server, 'slack', signed('slack', body), `${body} `);
  await send(server, 'hooks', webhook('msg_1', body), `${body} `);
  expect(lines).toMatchObject([
    {
      partnerId: 'slack',
      refusal: 'signature-wrong',
      verifiedAddress: PARTNER_URL + pathOf('slack'),
    },
    { partnerId: 'hooks', refusal: 'signature-wrong' },
  ]);
  expect(lines[1]).toMatchObject({ verifiedAddress: undefined });
});

/** Each scheme, as config/default.yaml shows it, against what its vendor has published. */
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '#config/load.ts';
import { signRequest, verifyRequest } from '#partners/intake/signed-request.ts';
import { fixedSignings } from '#partners/intake/signing.ts';
import {
  createPartner,
  createPartnerList,
  type Partner,
  type PartnerSettings,
} from '#partners/partner.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { NOW, PARTNER_URL } from '../support.ts';
import { secretsOf } from '../../support/partners.ts';

const uri = `${PARTNER_URL}/api/v1/webhooks/partners/p/events?a=%3A`;

type Request = {
  headers: Record<string, string | string[]>;
  body: Buffer | string;
  method?: string;
  uri?: string;
};

/** Why the request is refused, or `verified`. */
function verdictOf(partner: Partner, { headers, body, ...target }: Request, now = NOW): string {
  const given = new Map(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value].flat()]),
  );
  const verdict = verifyRequest(
    { partners: createPartnerList([partner]), clock: { now: () => now } },
    {
      partnerId: partner.id,
      method: 'POST',
      uri,
      body: Buffer.from(body),
      headerValues: (name) => given.get(name.toLowerCase()) ?? [],
      ...target,
    },
  );
  return verdict.kind === 'verified' ? verdict.kind : verdict.reason;
}

/** A partner of the manual, with another secret. */
function shown(id: string, secret: string): Partner {
  const manual = readFileSync('config/default.yaml', 'utf8');
  const partners = manual.slice(
    manual.indexOf('\n#partners:\n'),
    manual.indexOf('\n# How deletions'),
  );
  const { partners: all } = parse(partners.replaceAll(/^( *)#(?! |$)/gm, '$1')) as {
    partners: Record<string, object>;
  };
  const tracker = { repository: 'acme/leads', auth: { token: 't' } };
  const config = loadConfig({
    environment: {},
    settings: { tracker, partners: { [id]: { ...all[id], secrets: [secret] } } },
  });
  return createPartner(id, config.partners[id] as PartnerSettings);
}

const SLACK_BODY =
  'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';
const ZENDESK_SECRET = 'dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==';
const WEBHOOK_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

type Example = {
  partner: Partner;
  now: number;
  body: string;
  headers: Record<string, string>;
};

const examples: Record<string, Example> = {
  // https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
  GitHub: {
    partner: shown('github', "It's a Secret to Everybody"),
    now: NOW,
    body: 'Hello, World!',
    headers: {
      'X-Hub-Signature-256':
        'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    },
  },
  // https://docs.slack.dev/authentication/verifying-requests-from-slack
  Slack: {
    partner: shown('slack', '8f742231b10e8888abcd99yyyzzz85a5'),
    now: 1_531_420_618_000,
    body: SLACK_BODY,
    headers: {
      'X-Slack-Signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
      'X-Slack-Request-Timestamp': '1531420618',
    },
  },
  // As `stripe.webhooks.generateTestHeaderString` of its library 23.1.0 makes it.
  Stripe: {
    partner: shown('stripe', 'whsec_test_secret'),
    now: 1_492_774_577_000,
    body: '{"id":"evt_test_webhook","object":"event"}',
    headers: {
      'Stripe-Signature':
        't=1492774577,v1=88a022085c6bdb887b02cb26ff76dd681234d9675c0f22844059f55552a8883a',
    },
  },
  // The form that its documents tell: base64(HMAC-SHA256(timestamp + body)).
  Zendesk: {
    partner: shown('zendesk', ZENDESK_SECRET),
    now: Date.parse('2021-03-25T05:09:27Z'),
    body: '{"type":"zen:event-type:user.deleted"}',
    headers: {
      'X-Zendesk-Webhook-Signature': createHmac('sha256', ZENDESK_SECRET)
        .update('2021-03-25T05:09:27Z{"type":"zen:event-type:user.deleted"}')
        .digest('base64'),
      'X-Zendesk-Webhook-Signature-Timestamp': '2021-03-25T05:09:27Z',
    },
  },
  // https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
  'Standard Webhooks': {
    partner: createPartner('p', {
      scheme: 'standard-webhooks',
      secrets: secretsOf(WEBHOOK_SECRET),
    }),
    now: 1_614_265_330_000,
    body: '{"test": 2432232314}',
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
  },
  Svix: {
    partner: shown('svix', WEBHOOK_SECRET),
    now: 1_614_265_330_000,
    body: '{"test": 2432232314}',
    headers: {
      'svix-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'svix-timestamp': '1614265330',
      'svix-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
  },
};

describe.each(Object.entries(examples))('what %s has published', (_vendor, example) => {
  const { partner, now, body, headers } = example;
  const { signature, timestamp } = partner.headers;

  test('is verified, and signed by us verified, too', () => {
    expect(verdictOf(partner, { headers, body }, now)).toBe('verified');
    const request = { uri, body: Buffer.from(body), id: 'msg_1' };
    const ours = signRequest(partner, request, now) ?? {};
    expect(verdictOf(partner, { headers: ours, body }, now)).toBe('verified');
  });

  test('is refused with another body, secret or header', () => {
    expect(verdictOf(partner, { headers, body: `${body} ` }, now)).toBe('signature-wrong');
    const value = partner.scheme === 'standard-webhooks' ? 'whsec_AAAA' : 'another';
    const other = { ...partner, secrets: [{ value: new Secret(value) }] };
    expect(verdictOf(other, { headers, body }, now)).toBe('signature-wrong');
    expect(verdictOf(partner, { headers: {}, body }, now)).toBe('signature-missing');
  });

  test('is refused when any of its headers comes twice', () => {
    for (const [name, value] of Object.entries(headers))
      expect(
        verdictOf(partner, { headers: { ...headers, [name]: [value, value] }, body }, now),
      ).toMatch(/-malformed$/);
  });

  test('is refused when its time is over five minutes off, either way', () => {
    if (!partner.signing.time) return;
    for (const off of [-300_000, 300_000])
      expect(verdictOf(partner, { headers, body }, now + off)).toBe('verified');
    for (const off of [-300_001, 300_001])
      expect(verdictOf(partner, { headers, body }, now + off)).toBe('timestamp-outside-window');
  });

  test('is refused with other spellings of signature and time', () => {
    const value = headers[signature] ?? '';
    for (const changed of [`${value}\n`, ` ${value}`.slice(0, -1), `${value}0`, value.slice(0, -1)])
      expect(verdictOf(partner, { headers: { ...headers, [signature]: changed }, body }, now)).toBe(
        'signature-malformed',
      );
    if (timestamp === '') return;
    for (const changed of ['', `${String(headers[timestamp])}0`, `0${String(headers[timestamp])}`])
      expect(
        verdictOf(partner, { headers: { ...headers, [timestamp]: changed }, body }, now),
      ).toMatch(/^(?:signature-wrong|timestamp-malformed)$/);
  });
});

describe('standard-webhooks', () => {
  const { partner } = examples['Standard Webhooks'] as Example;
  const webhook = new Webhook(WEBHOOK_SECRET);
  const body = '{"type":"contact.deleted","name":"Zoë 🦊"}';
  const signed = (id = 'msg_1', at = NOW) => ({
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': webhook.sign(id, new Date(at), body),
  });

  test('one of several signatures has to be good, whatever their versions', () => {
    const headers = signed();
    const other = `v1,${'A'.repeat(43)}=`;
    const list = ['v1a,abc', other, headers['webhook-signature']].join(' ');
    const verdict = (signature: string) =>
      verdictOf(partner, { headers: { ...headers, 'webhook-signature': signature }, body });
    expect(verdict(list)).toBe('verified');
    expect(verdict(`v1a,abc ${other}`)).toMatch(/^(?:signature-wrong|timestamp-malformed)$/);
    expect(verdict('v1a,abc')).toBe('signature-malformed');
  });

  test('what we sign is good for the library', () => {
    const content = { uri, body: Buffer.from(body), id: 'msg_2' };
    const headers = signRequest(partner, content, Date.now()) ?? {};
    expect(webhook.verify(body, headers)).toEqual(JSON.parse(body));
  });

  test.each(['', 'a b', '{', 'x"', 'é', 'a'.repeat(256)])('the id %j is refused', (id) => {
    expect(verdictOf(partner, { headers: signed(id), body })).toBe('signature-malformed');
  });

  test.each([`${NOW}`, `${NOW / 1000}.0`, '1e9', '2026-09-21T12:00:02Z'])(
    'the time %j is refused although it is signed',
    (timestamp) => {
      const headers = { ...signed(), 'webhook-timestamp': timestamp };
      expect(verdictOf(partner, { headers, body })).not.toBe('verified');
    },
  );

  test('bytes that are no UTF-8 are covered by no signature', () => {
    const bytes = Buffer.from([0x22, 0xff, 0x22]);
    const headers = {
      ...signed(),
      'webhook-signature': webhook.sign('msg_1', new Date(NOW), bytes),
    };
    expect(verdictOf(partner, { headers, body: bytes })).toBe('signature-wrong');
    expect(verdictOf(partner, { headers, body: '"\uFFFD"' })).toBe('verified');
  });
});

describe('hmac', () => {
  const make = (signature: Partial<NonNullable<PartnerSettings['signature']>>): Partner =>
    createPartner('p', {
      scheme: 'hmac',
      secrets: secretsOf('a secret'),
      signature: {
        header: 'X-Sig',
        algorithm: 'sha256',
        encoding: 'hex',
        prefix: '',
        content: '{body}',
        ...signature,
      },
    });
  const hmac = (algorithm: string, text: string) => createHmac(algorithm, 'a secret').update(text);

  test.each(['hex', 'base64'] as const)('takes SHA-512 in %s, of everything', (encoding) => {
    const partner = make({
      algorithm: 'sha512',
      encoding,
      prefix: 'v1 ',
      content: '{method}\n{url}\n{timestamp}\n{body}',
      timestamp: { header: 'X-Time', unit: 'ms', tolerance: 1000 },
    });
    const text = `PUT\n${uri}\n${NOW}\n{"é":1}`;
    const headers = {
      'X-Sig': `v1 ${hmac('sha512', text).digest(encoding)}`,
      'X-Time': String(NOW),
    };
    const request = { headers, body: '{"é":1}', method: 'PUT' };
    expect(verdictOf(partner, request)).toBe('verified');
    expect(verdictOf(partner, { ...request, uri: uri.replace('%3A', ':') })).toBe(
      'signature-wrong',
    );
    expect(verdictOf(partner, { ...request, method: 'POST' })).toBe('signature-wrong');
    expect(verdictOf(partner, request, NOW + 1001)).toBe('timestamp-outside-window');
    expect(partner.signing.coversUrl).toBe(true);
  });

  test('takes hexadecimal digits in either case, and the raw bytes of any body', () => {
    const body = Buffer.from([0xff, 0x00, 0xfe]);
    const digest = createHmac('sha256', 'a secret').update(body).digest('hex');
    for (const value of [digest, digest.toUpperCase()])
      expect(verdictOf(make({}), { headers: { 'x-sig': value }, body })).toBe('verified');
  });

  describe('takes a prefix with blanks', () => {
    const digits = hmac('sha256', '{}').digest('hex');
    // As Node hands values over: without blanks at their ends.
    test.each([
      ['sha256= ', `sha256= ${digits}`],
      ['sha256= ', `sha256=${digits}`],
      ['sha256= ', `sha256=  \t${digits}`],
      [' sha256=  ', `sha256= ${digits}`],
      ['HMAC SHA256 ', `HMAC SHA256 ${digits}`],
      [' sha256=', `sha256=${digits}`],
      ['  ', digits],
    ])('%j reads %j', (prefix, value) => {
      const partner = configured({ prefix });
      expect(verdictOf(partner, { headers: { 'X-Sig': value }, body: '{}' })).toBe('verified');
      const other = verdictOf(partner, { headers: { 'X-Sig': value }, body: '{ }' });
      expect(other).toBe('signature-wrong');
    });

    test.each([
      ['sha256=', `sha256= ${digits}`],
      ['HMAC SHA256 ', `HMAC  SHA256 ${digits}`],
      ['sha256= ', `sha256 =${digits}`],
      ['sha256= ', `sha256= ${digits.replace(/(?<=^.{32})/, ' ')}`],
    ])('%j does not read %j', (prefix, value) => {
      const partner = configured({ prefix });
      expect(verdictOf(partner, { headers: { 'X-Sig': value }, body: '{}' })).toBe(
        'signature-malformed',
      );
    });

    test('within pairs, with blanks around each', () => {
      const pairs = { timestamp: 't', signature: 'sig' };
      const partner = configured({ prefix: 'sha256= ', pairs, content: '{timestamp}.{body}' });
      const good = hmac('sha256', `${NOW / 1000}.{}`).digest('hex');
      const value = `t=${NOW / 1000} ,\tsig= sha256= ${good}`;
      expect(verdictOf(partner, { headers: { 'X-Sig': value }, body: '{}' })).toBe('verified');
    });

    test('and signs with it', () => {
      const partner = configured({ prefix: 'sha256=  ' });
      const signed = signRequest(partner, { uri, body: Buffer.from('{}'), id: 'm' }, NOW);
      expect(signed?.['X-Sig']).toBe(`sha256= ${digits}`);
    });

    /** As the configuration has it. */
    function configured(signature: object): Partner {
      const tracker = { repository: 'acme/leads', auth: { token: 't' } };
      const p = {
        scheme: 'hmac',
        secrets: ['a secret'],
        signature: { header: 'X-Sig', ...signature },
      };
      const config = loadConfig({ environment: {}, settings: { tracker, partners: { p } } });
      return createPartner('p', config.partners['p'] as PartnerSettings);
    }
  });

  test('reads pairs: one of several signatures, one time', () => {
    const partner = make({
      content: '{timestamp}.{body}',
      pairs: { timestamp: 't', signature: 'v1' },
    });
    const time = NOW / 1000;
    const good = hmac('sha256', `${time}.{}`).digest('hex');
    const verdict = (value: string) =>
      verdictOf(partner, { headers: { 'X-Sig': value }, body: '{}' });
    expect(verdict(`t=${time}, v1=${'0'.repeat(64)}, v1=${good}, v0=x`)).toBe('verified');
    expect(verdict(`v1=${good}`)).toBe('signature-wrong');
    expect(verdict(`t=${time},t=${time},v1=${good}`)).toBe('timestamp-malformed');
    expect(verdict(`t=${time},v0=${good}`)).toBe('signature-malformed');
    expect(verdict(good)).toBe('signature-malformed');
  });
});

test('to refuse a call costs every kind of work that any partner takes, whoever it names', () => {
  const sign = vi.spyOn(fixedSignings['standard-webhooks'], 'sign');
  onTestFinished(() => sign.mockRestore());
  const secrets = secretsOf(WEBHOOK_SECRET, WEBHOOK_SECRET);
  const partners = createPartnerList([
    createPartner('one', { scheme: 'hmac-sha256', secrets: secretsOf('s') }),
    createPartner('two', { scheme: 'standard-webhooks', secrets }),
  ]);
  const counts = ['one', 'two', 'nobody'].map((partnerId) => {
    sign.mockClear();
    const request = { partnerId, method: 'POST', uri, body: Buffer.from('{}') };
    const deps = { partners, clock: { now: () => NOW } };
    const { kind } = verifyRequest(deps, { ...request, headerValues: () => [] });
    return [kind, sign.mock.calls.length];
  });
  expect(counts).toEqual([
    ['refused', 2],
    ['refused', 2],
    ['refused', 2],
  ]);
});

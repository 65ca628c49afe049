import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { CommandFailure, UsageError } from '#cli/command.ts';
import { loadConfig } from '#config/load.ts';
import { buildPartnerServer, NOW, PARTNER_URL } from '../partners/support.ts';
import { configFile } from '../e2e/support/process.ts';
import { createFakeClock } from '../support/clock.ts';
import { runCommand } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { paste, shells } from '../support/shells.ts';

const settings = {
  server: { publicUrl: PARTNER_URL },
  tracker: { repository: 'acme/leads', auth: { token: 'none' } },
  partners: {
    'crm-one': { scheme: 'hmac-sha256', secrets: ['the secret of one'] },
    'crm-two': { scheme: 'signature-v3', secrets: ['the secret of two'] },
    hooks: {
      scheme: 'standard-webhooks',
      secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    },
    pairs: {
      scheme: 'hmac',
      secrets: ['the secret of pairs'],
      signature: {
        header: 'X-Sig',
        content: '{timestamp}.{method}.{url}.{body}',
        pairs: { timestamp: 't', signature: 'v1' },
      },
    },
    late: {
      scheme: 'hmac-sha256',
      secrets: [{ value: 'later', notBefore: '2100-01-01T00:00:00Z' }],
    },
  },
};

const run = (...args: string[]): Promise<string> => runWith(settings, args);

async function runWith(settings: unknown, args: readonly string[]): Promise<string> {
  const argv = ['sign', ...args, '--config', configFile(settings)];
  return (await runCommand(argv, { clock: createFakeClock(NOW) })).out;
}

type Signed = { method: string; url: string; headers: Record<string, string> };
const signed = async (...args: string[]) => JSON.parse(await run(...args, '--json')) as Signed;

const BODY = '[{"objectId":1,"note":"it\'s @me"}]';

describe('trackport sign', () => {
  test.each([
    ['crm-one', 'deletions'],
    ['crm-one', 'events'],
    ['crm-two', 'deletions'],
    ['crm-two', '/api/v1/webhooks/partners/crm-two/events?source=%3A&x=%20y'],
    ['hooks', 'deletions'],
    ['pairs', '/api/v1/webhooks/partners/pairs/events?source=%3A&x=%20y'],
  ])('signs for %s on %s what the service accepts', async (partner, target) => {
    const { partners } = loadConfig({ environment: {}, port: undefined, settings });
    const { app } = buildPartnerServer({ partners });
    const call = await signed('--partner', partner, '--path', target, '--body', BODY);
    const answer = await app.inject({
      method: 'POST',
      url: call.url.slice(PARTNER_URL.length),
      headers: call.headers,
      body: BODY,
    });
    expect(answer.statusCode).toBe(202);
  });

  test.each([
    ['0.0.0.0', 'http://localhost:8080'],
    ['::', 'http://localhost:8080'],
    ['::1', 'http://[::1]:8080'],
    ['127.0.0.1', 'http://127.0.0.1:8080'],
  ])(
    'signs without a public address for the one that a service on %s gives itself',
    async (host, url) => {
      const args = ['--partner', 'crm-two', '--body', '{}', '--json'];
      const { url: signed } = JSON.parse(
        await runWith({ ...settings, server: { host } }, args),
      ) as Signed;
      expect(signed).toBe(`${url}/api/v1/webhooks/partners/crm-two/deletions`);
    },
  );

  test('prints headers', async () => {
    expect(await run('--partner', 'crm-one', '--body', '{}')).toMatch(
      /^Content-Type: application\/json\nX-Partner-Signature: sha256=[0-9a-f]{64}\n$/,
    );
    expect(await run('--partner', 'crm-two', '--body', '{}')).toMatch(
      /\nX-Vendor-Signature-v3: \S{44}\nX-Vendor-Request-Timestamp: 1790000002000\n$/,
    );
  });

  const nasty = String.raw`{"note":"it's !important, $HOME $(x) [a-z]* ? #1 ~ = \n <a> & | ; \t é !!"}`;

  test.each(shells)('prints a command that %s reads back exactly', async (...shell) => {
    for (const body of [BODY, nasty]) {
      const command = await run('--partner', 'crm-two', '--body', body, '--curl');
      const script = `curl() { for word in "$@"; do printf '%s\\n' "$word"; done; }\n${command}`;
      const { lines, complaints } = paste(shell, script);
      expect(complaints).toEqual([]);
      expect(lines.slice(-4, -1)).toEqual([
        '--data-raw',
        body,
        `${PARTNER_URL}/api/v1/webhooks/partners/crm-two/deletions`,
      ]);
    }
  });

  test('signs the bytes of a file', async () => {
    const file = path.join(temporaryFolder(), 'body.json');
    writeFileSync(file, BODY);
    const fromFile = await signed('--partner', 'crm-one', '--file', file);
    expect(fromFile).toEqual(await signed('--partner', 'crm-one', '--body', BODY));
    expect(await run('--partner', 'crm-one', '--file', file, '--curl')).toContain(
      `--data-binary '@${file}'`,
    );
  });

  test('needs no configuration when it is told scheme, secret and address', async () => {
    const told = [
      '--scheme',
      'signature-v3',
      '--secret',
      'the secret of two',
      '--url',
      PARTNER_URL,
    ];
    const argv = ['sign', '--json', '--partner', 'crm-two', '--body', BODY, ...told];
    const { out } = await runCommand(argv, { clock: createFakeClock(NOW) });
    expect(JSON.parse(out)).toEqual(await signed('--partner', 'crm-two', '--body', BODY));
  });

  test.each([
    [['--partner', 'nobody', '--body', '{}']],
    [['--partner', 'crm-one']],
    [['--partner', 'crm-one', '--body', '{}', '--file', 'x']],
    [['--partner', 'crm-one', '--file', '/does/not/exist']],
    [['--partner', 'crm-one', '--body', '{}', '--path', 'deletion']],
    [['--partner', 'crm-one', '--body', '{}', '--scheme', 'none']],
    [['--partner', 'crm-one', '--body', '{}', '--scheme', 'hmac-sha256']],
    ['--partner x --body {} --scheme hmac --secret s --url https://a.example'.split(' ')],
    [
      '--partner x --body {} --scheme standard-webhooks --secret s --url https://a.example'.split(
        ' ',
      ),
    ],
  ])('refuses %j', async (args) => {
    await expect(run(...args)).rejects.toThrow(UsageError);
  });

  test('fails when no secret is active', async () => {
    await expect(run('--partner', 'late', '--body', '{}')).rejects.toThrow(CommandFailure);
  });
});

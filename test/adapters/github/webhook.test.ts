import { createHmac } from 'node:crypto';
import { createRequire } from 'node:module';

import { describe, expect, test } from 'vitest';

import { createWebhookVerifier } from '#adapters/github/webhook.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { NAME, wireIssue, wireRepository, ownIssue } from './support.ts';

const SECRET = "It's a Secret to Everybody";
const IGNORED = { kind: 'ignored' };
const isRefused = { code: 'unauthorized' };
const verifier = createWebhookVerifier({ secrets: [new Secret(SECRET)], name: NAME });

function sign(body: string | Buffer, secret = SECRET): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

function deliver(event: string | undefined, payload: unknown, use = verifier) {
  const rawBody = Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload));
  return use.verify({ event, signature: sign(rawBody), rawBody });
}

const repository = { ...wireRepository, owner: { login: 'acme' } };
const edited = { action: 'edited', issue: wireIssue, repository };

test('is not lost for a name that stands twice in it', async () => {
  const text = JSON.stringify(edited).replace('{', '{"action":"opened",');
  expect(await deliver('issues', text)).toMatchObject({ kind: 'issue', isGone: false });
});

describe('the signature', () => {
  const rawBody = Buffer.from('Hello, World!');
  const official = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';

  test('of the documented example holds, whose body is then no JSON', async () => {
    await expect(
      verifier.verify({ event: 'issues', signature: official, rawBody }),
    ).rejects.toMatchObject({ code: 'malformed-json' });
  });

  test.each([
    ['missing', undefined],
    ['empty', ''],
    ['of another body', sign('Hello, World?')],
    ['of another secret', sign(rawBody, 'other')],
    ['SHA-1', `sha1=${createHmac('sha1', SECRET).update(rawBody).digest('hex')}`],
    ['without its scheme', official.slice('sha256='.length)],
    ['in upper case', official.toUpperCase()],
    ['with upper-case digits', `sha256=${official.slice(7).toUpperCase()}`],
    ['cut off', official.slice(0, -2)],
    ['too long', `${official}00`],
    ['twice', `${official}, ${official}`],
    ['ten thousand characters long', 'a'.repeat(10_000)],
    ['not ASCII', 'sha256=ü'],
  ])('is refused when it is %s', async (_, signature) => {
    await expect(verifier.verify({ event: 'issues', signature, rawBody })).rejects.toMatchObject(
      isRefused,
    );
  });

  test('may be of any of several secrets while one is replaced', async () => {
    const secrets = [new Secret('new'), new Secret(''), new Secret('old')];
    const rotating = createWebhookVerifier({ secrets, name: NAME });
    const body = Buffer.from(JSON.stringify(edited));
    for (const secret of ['new', 'old'])
      await expect(
        rotating.verify({ event: 'issues', signature: sign(body, secret), rawBody: body }),
      ).resolves.toMatchObject({ kind: 'issue' });
    await expect(
      rotating.verify({ event: 'issues', signature: sign(body), rawBody: body }),
    ).rejects.toMatchObject(isRefused);
  });

  test('holds for nothing when no secret is configured, not even the empty one', async () => {
    const open = createWebhookVerifier({ secrets: [new Secret('')], name: NAME });
    const signature = sign(rawBody, '');
    await expect(open.verify({ event: 'ping', signature, rawBody })).rejects.toMatchObject(
      isRefused,
    );
    const none = createWebhookVerifier({ secrets: [], name: NAME });
    await expect(none.verify({ event: 'ping', signature, rawBody })).rejects.toMatchObject(
      isRefused,
    );
  });

  test('covers the bytes as they came', async () => {
    const pretty = JSON.stringify(edited, null, 2).replaceAll('\n', '\r\n');
    const escaped = JSON.stringify({ ...edited, note: '🎉 é' }).replace('🎉', String.raw`🎉`);
    for (const text of [pretty, escaped, `\n${JSON.stringify(edited)} \n`])
      await expect(deliver('issues', text)).resolves.toMatchObject({ kind: 'issue' });
  });

  test('never holds for an empty body', async () => {
    const empty = Buffer.alloc(0);
    await expect(
      verifier.verify({ event: 'ping', signature: sign(empty), rawBody: empty }),
    ).rejects.toMatchObject(isRefused);
  });

  test('never holds for bytes that are no text', async () => {
    const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x7d]);
    await expect(
      verifier.verify({ event: 'ping', signature: sign(bytes), rawBody: bytes }),
    ).rejects.toMatchObject(isRefused);
  });
});

describe('whatever an issue’s event is called', () => {
  const description = createRequire(import.meta.url)(
    '@octokit/openapi/generated/api.github.com.json',
  ) as { 'x-webhooks': object };
  const published = Object.keys(description['x-webhooks'])
    .filter((name) => name.startsWith('issues-'))
    .map((name) => name.slice('issues-'.length).replaceAll('-', '_'));
  const gone = new Set(['deleted', 'transferred']);

  test.each([...published, 'status_changed', 'something_new', '', 'constructor'])(
    '%s is taken by what its issue says',
    async (action) => {
      const issue = {
        ...wireIssue,
        state: 'closed',
        labels: [{ name: 'other' }],
        type: { id: 1, name: 'Bug' },
        status: { id: 1, name: 'Done', category: 'completed' },
        issue_field_values: [{ issue_field_id: 1, value: 3 }],
      };
      const changes = { state: { from: 'open' }, status: { from: null } };
      await expect(
        deliver('issues', { action, issue, changes, repository }),
      ).resolves.toMatchObject({
        kind: 'issue',
        isGone: gone.has(action),
        issue: { number: 7, state: 'closed', labels: ['other'] },
      });
    },
  );
});

describe('a genuine body', () => {
  test.each([
    ['no JSON', 'not json'],
    ['cut off', JSON.stringify(edited).slice(0, -1)],
    ['two texts', '{} {}'],
    ['too deep', '['.repeat(65) + ']'.repeat(65)],
    ['after a prototype', '{"__proto__": {}}'],
  ])('that is %s is malformed-json', async (_, text) => {
    await expect(deliver('issues', text)).rejects.toMatchObject({ code: 'malformed-json' });
  });

  test('may begin with a byte order mark', async () => {
    await expect(deliver('issues', `\uFEFF${JSON.stringify(edited)}`)).resolves.toMatchObject({
      kind: 'issue',
    });
  });

  test.each(['null', '[]', '"x"', '1', 'true', '{}', '[null]', '{"repository":null}'])(
    '%s is ignored under any name',
    async (text) => {
      for (const event of ['issues', 'label', 'repository', 'ping', 'unheard-of', '', undefined])
        await expect(deliver(event, text)).resolves.toEqual(IGNORED);
    },
  );

  test.each(['ping', 'issue_comment', 'pull_request', 'push', 'star', 'unheard-of', '', undefined])(
    'of the event %s is ignored',
    async (event) => {
      await expect(deliver(event, edited)).resolves.toEqual(IGNORED);
    },
  );

  test('of 25 MB is read', async () => {
    const big = { ...edited, changes: { body: { from: 'x'.repeat(25_000_000) } } };
    await expect(deliver('issues', big)).resolves.toMatchObject({ kind: 'issue' });
  });
});

describe('an issues event', () => {
  test('tells the issue as it is now, and nothing of what it was', async () => {
    const changes = { body: { from: 'old private words' }, title: { from: 'old title' } };
    const event = await deliver('issues', { ...edited, changes });
    expect(event).toEqual({
      kind: 'issue',
      isGone: false,
      issue: ownIssue,
    });
  });

  test.each([
    ['opened', false],
    ['closed', false],
    ['reopened', false],
    ['labeled', false],
    ['typed', false],
    ['field_added', false],
    ['an action of next year', false],
    ['deleted', true],
    ['transferred', true],
  ])('%s', async (action, isGone) => {
    const event = await deliver('issues', { ...edited, action });
    expect(event).toMatchObject({ kind: 'issue', isGone });
    expect('isMoved' in event && event.isMoved).toBe(action === 'transferred');
  });

  test('about a pull request is ignored', async () => {
    const issue = { ...wireIssue, pull_request: { url: 'x' } };
    await expect(deliver('issues', { ...edited, issue })).resolves.toEqual(IGNORED);
  });

  test('whose issue cannot be read may be about any issue', async () => {
    const issue = { ...wireIssue, number: 'seven' };
    await expect(deliver('issues', { ...edited, issue })).resolves.toEqual({ kind: 'everything' });
    await expect(deliver('issues', { repository })).resolves.toEqual({ kind: 'everything' });
  });

  test('that is a comment’s event under another name tells nothing', async () => {
    const comment = { id: 1, body: 'x' };
    const body = { ...edited, action: 'deleted', comment };
    await expect(deliver('issues', body)).resolves.toEqual(IGNORED);
  });
});

describe('the repository of an event', () => {
  test.each([
    ['another', { ...repository, full_name: 'acme/other' }, 'ignored'],
    ['one whose name begins like ours', { ...repository, full_name: 'acme/leads-2' }, 'ignored'],
    ['ours in other letters', { ...repository, full_name: 'ACME/Leads' }, 'issue'],
  ])('%s', async (_, repository, kind) => {
    await expect(deliver('issues', { ...edited, repository })).resolves.toMatchObject({ kind });
  });

  test('is known by its number after it was renamed', async () => {
    const renamed = { ...repository, full_name: 'acme/contacts', name: 'contacts' };
    const byId = createWebhookVerifier({
      secrets: [new Secret(SECRET)],
      name: NAME,
      repositoryId: () => 4711,
    });
    await expect(
      deliver('issues', { ...edited, repository: renamed }, byId),
    ).resolves.toMatchObject({ kind: 'issue' });
    await expect(
      deliver('issues', { ...edited, repository: { ...renamed, id: 1 } }, byId),
    ).resolves.toEqual(IGNORED);
  });

  test('and its labels change everything', async () => {
    for (const event of ['label', 'repository'])
      await expect(deliver(event, { action: 'deleted', repository })).resolves.toEqual({
        kind: 'everything',
      });
  });

  test('and tell the new name of a label, for none of its issues does', async () => {
    const payload = { action: 'edited', repository, label: { name: 'Vest', color: '000000' } };
    for (const [changes, event] of [
      [{ name: { from: 'West' } }, { renamedLabel: { from: 'West', to: 'Vest' } }],
      [{ color: { from: 'ffffff' } }, {}],
    ] as const)
      await expect(deliver('label', { ...payload, changes })).resolves.toEqual({
        kind: 'everything',
        ...event,
      });
  });

  test('says goodbye under its new name', async () => {
    const renamed = {
      action: 'renamed',
      repository: { ...repository, name: 'contacts', full_name: 'acme/contacts' },
      changes: { repository: { name: { from: 'leads' } } },
    };
    const moved = {
      action: 'transferred',
      repository: { ...repository, full_name: 'newco/leads', owner: { login: 'newco' } },
      changes: { owner: { from: { organization: { login: 'Acme' } } } },
    };
    for (const payload of [renamed, moved])
      await expect(deliver('repository', payload)).resolves.toEqual({ kind: 'everything' });
  });
});

describe('the published examples', () => {
  type Payload = {
    action?: string;
    issue?: { number: number; pull_request?: object };
    repository?: { full_name: string };
  };
  const require = createRequire(import.meta.url);
  const examples = require('@octokit/webhooks-examples') as { name: string; examples: Payload[] }[];
  const payloads = examples.flatMap(({ name, examples }) =>
    examples.map((payload) => ({ name, payload })),
  );

  function verifierFor({ repository }: Payload) {
    const [owner = 'a', repo = 'b'] = repository?.full_name.split('/') ?? [];
    return createWebhookVerifier({ secrets: [new Secret(SECRET)], name: { owner, repo } });
  }

  function expectedOf({ action = '', issue }: Payload): object {
    // One was sent because a pull request got a milestone.
    if (issue?.pull_request) return IGNORED;
    // These two tell neither state nor labels.
    if (['pinned', 'unpinned'].includes(action)) return { kind: 'everything' };
    const isGone = ['deleted', 'transferred'].includes(action);
    return { kind: 'issue', isGone, issue: { number: issue?.number } };
  }

  test('of issues are all understood', async () => {
    const issues = payloads.filter(({ name }) => name === 'issues');
    expect(issues).toHaveLength(29);
    for (const { payload } of issues) {
      const event = await deliver('issues', payload, verifierFor(payload));
      expect(event).toMatchObject(expectedOf(payload));
    }
  });

  test('of labels and the repository change everything', async () => {
    const others = payloads.filter(({ name }) => name === 'label' || name === 'repository');
    expect(others).toHaveLength(19);
    for (const { name, payload } of others)
      await expect(deliver(name, payload, verifierFor(payload))).resolves.toEqual({
        kind: 'everything',
      });
  });

  test('of everything else are ignored, and all of another repository', async () => {
    const meant = new Set(['issues', 'label', 'repository']);
    for (const { name, payload } of payloads) {
      await expect(deliver(name, payload)).resolves.toEqual(IGNORED);
      if (meant.has(name)) continue;
      await expect(deliver(name, payload, verifierFor(payload))).resolves.toEqual(IGNORED);
    }
  });
});

test.each([
  ['to', { from: 'West' }, 'x'.repeat(300_000)],
  ['from', { from: 'x'.repeat(256) }, 'Vest'],
])(
  'a label that was renamed %s what no label can be called is only a change',
  async (_way, name, to) => {
    const payload = { action: 'edited', label: { name: to }, changes: { name }, repository };
    expect(await deliver('label', payload)).toEqual({ kind: 'everything' });
  },
);

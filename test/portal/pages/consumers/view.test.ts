import { expect, test } from 'vitest';
import type { AuditEntryOut } from '#access/audit-log.ts';
import type { Consumer, ConsumerId, Key, KeyId } from '#access/consumers/consumer.ts';
import type { Follower } from '#leads/lead-feed/followers.ts';
import { consumerView } from '#portal/pages/consumers/consumer-page.ts';
import { consumerListView, consumersQuery } from '#portal/pages/consumers/consumer-list.ts';
import { DAY, MINUTE } from '#shared/clock.ts';
import { flat, person, viewer } from '../../shell/support.ts';
import type { ConsumerWithKey } from '#access/keys/key-rules.ts';
import { shownKey } from '#portal/pages/consumers/create-consumer.ts';

const { nowMs } = viewer;

const key = (given: Partial<Key> = {}): Key => ({
  keyId: '8fQ2mZr7KxLd' as KeyId,
  digest: Buffer.alloc(32),
  last4: 'abcd',
  createdBy: 'ops',
  createdAt: nowMs - DAY,
  ...given,
});

const consumer = (given: Partial<Consumer> = {}): Consumer => ({
  id: '997a82ff-b38b-4523-94fc-a0d4431e3c02' as ConsumerId,
  name: 'Sales cockpit EMEA',
  state: 'active',
  grants: [{ action: 'leads:read', labels: ['emea'] }],
  keys: [key()],
  createdAt: nowMs - 9 * DAY,
  ...given,
});

const show = (
  given: Partial<Consumer>,
  labels: readonly string[] = ['emea'],
  entries: readonly AuditEntryOut[] = [],
  follower?: Follower,
) =>
  consumerView(
    {
      consumer: consumer(given),
      person,
      labels,
      entries,
      defaultLimit: 600,
      follower,
      returned: undefined,
    },
    viewer,
  );

const list = (items: readonly Consumer[], query: Record<string, string> = {}) =>
  consumerListView(
    { items, pagination: { hasMore: false } },
    { query: consumersQuery.parse(query), typed: {}, problems: [], viewer },
  );

test('who reads leads is shown with where it is in the lead feed', () => {
  const feed = (follower?: Follower, given: Partial<Consumer> = {}) =>
    /<dt>Lead feed<.dt><dd>(.*?)<.dd>/.exec(flat(show(given, [], [], follower)))?.[1];
  expect(feed()).toBe('does not follow it');
  const readAt = nowMs - 12_000;
  expect(feed({ readAt })).toMatch(/^has all of it.*last read\s*<time[^>]*>12 s ago/);
  expect(feed({ readAt, behindSince: nowMs - 3 * MINUTE })).toMatch(/data-s="warn">3 min behind</);
  expect(feed({ readAt }, { grants: [] })).toBeUndefined();
});

test('no key of a disabled consumer looks as if it worked', () => {
  const text = flat(show({ state: 'disabled' }));
  expect(text).toContain('data-s="mute">Disabled</span>');
  expect(text).not.toContain('data-s="ok"');
});

test('a list of the longest names and labels stays below 50 KB', () => {
  const labels = Array.from({ length: 20 }, (_, at) => `${'"<'.repeat(24)}${at}`);
  const long = consumer({ name: '"<'.repeat(100), grants: [{ action: 'leads:read', labels }] });
  const consumers = Array.from({ length: 30 }, () => long);
  const text = list(consumers).toString();
  expect(text).toContain('and 18 more');
  expect(Buffer.byteLength(text)).toBeLessThan(46_000);
});

test.each([
  [[], '/api/v1/me'],
  [['catalog:read'], '/api/v1/catalog?limit=3'],
  [['catalog:read', 'leads:read'], '/api/v1/leads?limit=3'],
])('the command beside a new key reads what the grants %j open', (actions, path) => {
  const consumer = { grants: actions.map((action) => ({ action })) };
  const made = {
    consumer,
    issued: { key: { reveal: () => 'tpk_x' } },
  } as unknown as ConsumerWithKey;
  const { command } = shownKey(made, 'https://adapter.example.com');
  expect(command).toContain(`'https://adapter.example.com${path}'`);
  expect(command).not.toContain('tpk_x');
});

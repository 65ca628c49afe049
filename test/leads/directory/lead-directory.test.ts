import fc from 'fast-check';
import { expect, test } from 'vitest';
import { correlationIdIn, type LeadIdentity } from '#leads/model/identity.ts';
import { correlationId, email, externalId } from '../../support/identities.ts';
import {
  rulesCheckOf,
  hashIdentity,
  toDirectoryEntry,
  toHashedIdentity,
} from '#leads/directory/lead-directory.ts';
import { hmacSha256 } from '#shared/crypto/hash.ts';
import { leadRules, plainIssue } from '../../support/directory.ts';
import { keyOf } from '../../support/keys.ts';

const key = keyOf(1);
const hash = (identity: LeadIdentity) => hashIdentity(key, identity).toString('hex');

test('one person has one hash, however the address is written', () => {
  const same = ['Zoë <Zoë@MÜNCHEN.de>', ' zoe\u0308@xn--mnchen-3ya.de\n', '<zo\u200bë@münchen.de>'];
  expect(new Set(same.map((value) => hash(email(value)))).size).toBe(1);
});

const issueOf = (email: string) =>
  plainIssue({
    body: `### First name

Ada

### Email

${email}
`,
  });

test.each(['\u200b', '<', '-', 'n/a', 'ada@', 'ada@-', 'ada@127.0.0.1', 'no mail @ all'])(
  'what stands in place of an address and is none, %j, is no identity: two of them are not one person',
  (email) => {
    expect(toDirectoryEntry(issueOf(email), leadRules, key).identities).toEqual([]);
  },
);

test('a lead has every address that was typed, once', () => {
  const { identities } = toDirectoryEntry(
    issueOf('ada@example.com / ADA@work.example、ada@Example.com!'),
    leadRules,
    key,
  );
  const emails = ['ada@example.com', 'ada@work.example'] as const;
  expect(identities).toEqual(emails.map((value) => toHashedIdentity(key, email(value))));
});

test('identities of different kind, partner or value never share a hash', () => {
  const text = fc.string({ minLength: 1 });
  const visible = text.filter((value) => correlationIdIn(value) !== undefined);
  const identity = fc.oneof(
    visible.map(correlationId),
    fc.tuple(text, visible).map(([partnerId, value]) => externalId(partnerId, value)),
  );
  const of = (partnerId: string): LeadIdentity => externalId(partnerId, '1');
  fc.assert(
    fc.property(identity, identity, (left, right) => {
      const same = JSON.stringify(left) === JSON.stringify(right);
      expect(hash(left) === hash(right)).toBe(same);
    }),
    { examples: [[of('crm'), of('crm-one')]] },
  );
});

test('a hash tells nothing without the key, and is short', () => {
  const identity = email('ada@example.com');
  expect(hashIdentity(keyOf(2), identity).toString('hex')).not.toBe(hash(identity));
  expect(hashIdentity(key, identity)).toHaveLength(16);
});

test('a directory that 0.1.0 filled is filled again: it read bodies and compared identities otherwise', () => {
  const { approvedLabel, form, portalAuthors } = leadRules;
  const inFirstVersion = hmacSha256(key, JSON.stringify([approvedLabel, form, portalAuthors]));
  expect(rulesCheckOf(leadRules, key)).not.toEqual(inFirstVersion.subarray(0, 16));
});

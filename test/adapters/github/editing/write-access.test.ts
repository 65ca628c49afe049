import { describe, expect, test } from 'vitest';
import { credentialKindOf } from '#adapters/github/transport/auth.ts';
import { reasonNotToWrite } from '#adapters/github/editing/write-access.ts';
import { Secret } from '#shared/crypto/secret.ts';

const facts = {
  id: 1,
  hasIssues: true,
  isPrivate: true,
  isArchived: false,
  isAdmin: false,
  mayWrite: true,
};

const scopes = (text: string) => ({ 'x-oauth-scopes': text });

describe('nothing speaks against writing', () => {
  test.each([
    ['a classic token with repo', 'classic', {}, scopes('gist, repo')],
    ['public_repo for a public one', 'classic', { isPrivate: false }, scopes('public_repo')],
    ['no scopes told', 'classic', {}, {}],
    ['no rights told', 'user', { mayWrite: undefined }, {}],
    ['a user with a right', 'user', {}, {}],
    ['an App, whatever is told of its rights', 'app', { mayWrite: false }, scopes('')],
  ] as const)('%s', (_name, credentialKind, change, headers) => {
    expect(reasonNotToWrite({ credentialKind }, { ...facts, ...change }, headers)).toBeUndefined();
  });
});

describe('not to be written:', () => {
  test.each([
    ['a classic token without any scope', 'forbidden', 'classic', {}, scopes('')],
    ['public_repo for a private one', 'forbidden', 'classic', {}, scopes('public_repo')],
    ['a scope of a similar name', 'forbidden', 'classic', {}, scopes('repo:status')],
    ['a user who may only read', 'forbidden', 'user', { mayWrite: false }, {}],
    ['an archived repository', 'forbidden', 'app', { isArchived: true }, {}],
    ['no issues', 'issues-disabled', 'app', { hasIssues: false }, {}],
  ] as const)('%s', (...[, reason, credentialKind, change, headers]) => {
    expect(reasonNotToWrite({ credentialKind }, { ...facts, ...change }, headers)).toBe(reason);
  });
});

test.each([
  ['ghp_1', 'classic'],
  ['0123456789abcdef0123456789abcdef01234567', 'classic'],
  ['gho_1', 'classic'],
  ['github_pat_1', 'user'],
  ['ghs_1', 'app'],
  ['ghu_1', 'app'],
])('%s is the token of: %s', (token, kind) => {
  expect(credentialKindOf({ token: new Secret(token) })).toBe(kind);
});

test('an installation is an App', () => {
  const privateKey = new Secret('k');
  expect(credentialKindOf({ appId: '1', installationId: '2', privateKey })).toBe('app');
});

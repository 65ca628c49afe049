import { expect, test } from 'vitest';
import { issueAddressOf } from '#adapters/github/issue-address.ts';

test.each([
  ['https://api.github.com', 'https://github.com/acme/leads/issues/24'],
  ['https://api.acme.ghe.com', 'https://acme.ghe.com/acme/leads/issues/24'],
  ['https://git.acme.example/api/v3', 'https://git.acme.example/acme/leads/issues/24'],
  ['http://127.0.0.1:8081', 'http://127.0.0.1:8081/acme/leads/issues/24'],
  [
    'https://api.github.com.evil.example',
    'https://api.github.com.evil.example/acme/leads/issues/24',
  ],
])('the issues of %s are read at %s', (apiUrl, address) => {
  expect(issueAddressOf(apiUrl, 'acme/leads')('24')).toBe(address);
});

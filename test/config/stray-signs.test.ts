/** Secrets that came with quotation marks, line ends or invisible signs: refused by name, and never shown. */
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '#config/load.ts';
import { ConfigError } from '#config/problems.ts';
import { temporaryFolder } from '../support/folder.ts';

const WORD = 'c2VjcmV0LXdvcmQtdGhhdC1pcy1sb25nLWVub3VnaC0zMmI=';

/** Every place of the configuration that holds a secret, and what a good one looks like there. */
const places: Record<string, { key: string; good?: string }> = {
  secretKey: { key: 'secretKey' },
  'store.url': { key: 'store.url', good: `postgres://user:${WORD}@db.example.com/leads` },
  'tracker.auth.token': { key: 'tracker.auth.token' },
  'tracker.adminToken': { key: 'tracker.adminToken' },
  'tracker.webhookSecrets': { key: 'tracker.webhookSecrets[1]' },
  'portal.clientSecret': { key: 'portal.clientSecret' },
  'partners.one': { key: 'partners.one.secrets[0]' },
  'partners.one, dated': { key: 'partners.one.secrets[1].value' },
  'partners.two': { key: 'partners.two.secrets[0]', good: `whsec_${WORD}` },
};

/** A configuration with `value` at one of the places, and a good one at all others. */
function settingsWith(place: string, value: string): Record<string, unknown> {
  const at = (name: string): string => (name === place ? value : (places[name]?.good ?? WORD));
  return {
    secretKey: at('secretKey'),
    store: { url: at('store.url') },
    tracker: {
      repository: 'acme/leads',
      auth: { token: at('tracker.auth.token') },
      adminToken: at('tracker.adminToken'),
      webhookSecrets: [WORD, at('tracker.webhookSecrets')],
    },
    identity: { issuer: 'https://id.example.com', audience: 'trackport' },
    portal: { clientId: 'portal', clientSecret: at('portal.clientSecret') },
    partners: {
      one: {
        scheme: 'hmac-sha256',
        secrets: [at('partners.one'), { value: at('partners.one, dated') }],
      },
      two: { scheme: 'standard-webhooks', secrets: [at('partners.two')] },
    },
  };
}

function refusalOf(request: Parameters<typeof loadConfig>[0]): ConfigError {
  try {
    loadConfig(request);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const strays: [name: string, set: (good: string) => string, found: RegExp, remedy: RegExp][] = [
  ['a carriage return', (good) => `${good}\r`, /with a carriage return in it/, /line ends/],
  ['a line break', (good) => `${good}\n`, /with a line break in it/, /one line/],
  ['a tab', (good) => `\t${good}`, /invisible sign in it \(U\+0009\)/, /take the sign out/],
  ['a zero-width blank', (good) => `${good}\u200B`, /\(U\+200B\)/, /take the sign out/],
  ['quotation marks', (good) => `"${good}"`, /with quotation marks around it/, /marks away/],
  ['typographic ones', (good) => `“${good}”`, /with quotation marks around it/, /marks away/],
  [
    'marks and a carriage return',
    (good) => `"${good}"\r`,
    /quotation marks around it and a carriage return in it/,
    /marks away.*line ends/,
  ],
];

describe.each(Object.keys(places))('%s', (place) => {
  const { key = '', good = WORD } = places[place] ?? {};

  test.each(strays)('from the environment with %s is refused by name', (_name, set, found, fix) => {
    const environment = { GIVEN: set(good) };
    const settings = settingsWith(place, '${GIVEN}');
    const { message, problems } = refusalOf({ environment, settings });
    expect(problems).toMatchObject([{ path: key }]);
    expect(problems[0]?.found).toMatch(/^\$\{GIVEN\} with /);
    expect(problems[0]?.found).toMatch(found);
    expect(problems[0]?.suggestion).toMatch(fix);
    expect(message).not.toContain(WORD);
  });

  test('is taken as it is without', () => {
    expect(() =>
      loadConfig({ environment: {}, settings: settingsWith(place, good) }),
    ).not.toThrow();
  });
});

test.each([
  ['marks', `"${WORD}"\r\n`, /quotation marks/],
  ['two lines', `${WORD}\r\nmore\r\n`, /carriage return/],
])('a file with %s is refused by name', (_name, content, found) => {
  const file = `${temporaryFolder()}/secret`;
  writeFileSync(file, content);
  const settings = settingsWith('partners.one', `\${file:${file}}`);
  const { problems } = refusalOf({ environment: {}, settings });
  expect(problems).toMatchObject([{ path: 'partners.one.secrets[0]' }]);
  expect(problems[0]?.found).toMatch(found);
});

test.each(['"', "it's", '"a" and "b', 'Zürich-🔑'])('the secret %s is none of these', (secret) => {
  const settings = settingsWith('partners.one', secret);
  expect(() => loadConfig({ environment: {}, settings })).not.toThrow();
});

/** Findings of doctor on typed fields, and on the rules that set them. */
import path from 'node:path';
import { loadConfig } from '#config/load.ts';
import { startTracker } from '#sandbox/tracker/tracker.ts';
import type { TokenGrant } from '#sandbox/tracker/api/callers/caller.ts';
import { systemClock } from '#shared/clock.ts';
import nock from 'nock';
import { expect, onTestFinished, test } from 'vitest';
import { createTracker } from '#compose/tracker.ts';
import { checkTracker } from '#doctor/check-tracker.ts';
import { createReloadable } from '#config/reload.ts';
import { wireRepository } from '../adapters/github/support.ts';
import { temporaryFolder } from '../support/folder.ts';

const TOKEN = 'doctor-token';
const issueFields = {
  region: 'REGION',
  products: 'Products',
  size: 'Size',
  due: 'Due',
  note: 'Note',
};

type Settings = { issueFields?: Record<string, string>; setFields?: object; deletions?: object };

/** Findings about fields, each as `state subject: detail`. */
async function examine(apiUrl: string, { issueFields: names, setFields, deletions }: Settings) {
  const crm = {
    scheme: 'hmac-sha256',
    secrets: ['a-secret-of-the-partner'],
    ...(deletions && { deletions }),
    ...(setFields && { events: [{ type: '*', setFields }] }),
  };
  const config = loadConfig({
    environment: {},
    settings: {
      store: { url: `sqlite:${path.join(temporaryFolder(), 'trackport.db')}` },
      tracker: { repository: 'acme/leads', apiUrl, auth: { token: TOKEN } },
      leads: { ...(names && { issueFields: names }) },
      partners: { ...((setFields || deletions) && { crm }) },
    },
  });
  const tracker = createTracker({ settings: createReloadable(config), clock: systemClock });
  const deps = { config, tracker, clock: systemClock };
  const findings = await checkTracker(deps, { fix: false });
  return findings
    .filter(({ subject }) => /^(field |typed fields)/.test(subject))
    .map(({ state, subject, detail }) => `${state} ${subject}: ${detail}`);
}

async function openTracker(token: Partial<TokenGrant> = {}): Promise<string> {
  const tracker = await startTracker({ tokens: [{ token: TOKEN, can: 'write', ...token }] });
  onTestFinished(() => tracker.close());
  tracker.createField({ name: 'Region', dataType: 'single_select', options: ['APAC', 'EMEA'] });
  tracker.createField({ name: 'Products', dataType: 'multi_select', options: ['A', 'B'] });
  tracker.createField({ name: 'Size', dataType: 'number' });
  tracker.createField({ name: 'Due', dataType: 'date' });
  tracker.createField({ name: 'Note', dataType: 'text' });
  return tracker.url;
}

test('each that the configuration names is found, with its kind and options', async () => {
  const good = { region: 'EMEA', products: ['A'], size: 3, due: '2026-12-01', note: 'x' };
  expect(await examine(await openTracker(), { issueFields, setFields: good })).toEqual([
    'ok field REGION: Found, single_select: APAC, EMEA.',
    'ok field Products: Found, multi_select: A, B.',
    'ok field Size: Found, number.',
    'ok field Due: Found, date.',
    'ok field Note: Found, text.',
  ]);
});

test('nothing is said, and asked, where nothing names any', async () => {
  expect(await examine(await openTracker({ scopes: ['repo'] }), {})).toEqual([]);
});

test('one that there is not is told with what there is', async () => {
  expect(await examine(await openTracker(), { issueFields: { region: 'Regoin' } })).toEqual([
    'failed field Regoin: The tracker has no such field. Did you mean Region? It has Region, Products, Size, Due, Note.',
  ]);
});

test.each<[object]>([
  [{ region: 'emea' }],
  [{ region: ['EMEA'] }],
  [{ products: 'A' }],
  [{ products: ['A', 'C'] }],
  [{ size: '3' }],
  [{ due: '1 December' }],
  [{ note: 3 }],
])('a rule that sets %j is told', async (setFields) => {
  const findings = await examine(await openTracker(), { issueFields, setFields });
  const wrong = findings.filter((finding) => finding.startsWith('failed'));
  expect(wrong).toEqual([expect.stringMatching(/A rule of crm sets it to .*, and it is/)]);
});

test.each<[Settings, string]>([
  [{ issueFields }, 'warning'],
  [{ issueFields, setFields: { size: 3 } }, 'failed'],
])('that the credential may not see them is told: %j', async (settings, state) => {
  const url = await openTracker({ scopes: ['repo'] });
  expect(await examine(url, settings)).toEqual([
    expect.stringMatching(new RegExp(`^${state} typed fields: The tracker shows none`)),
  ]);
});

test.each<[Settings, string[]]>([
  [{ issueFields: { size: 'Size' }, setFields: { size: 3 } }, ['failed']],
  [{ deletions: { actions: ['close'] } }, ['warning']],
  [{ deletions: { actions: ['close'], privacy: ['close'] } }, []],
  [{}, []],
])(
  'that the credential may not write them is told where that is wanted: %j',
  async (settings, states) => {
    const api = 'https://api.tracker.test';
    const permissions = { ...wireRepository.permissions, push: false };
    nock(api)
      .get('/repos/acme/leads')
      .reply(200, { ...wireRepository, permissions });
    nock(api)
      .persist()
      .get(/labels/)
      .reply(200, { name: 'x' });
    nock(api)
      .persist()
      .get(/issue-fields/)
      .reply(200, [{ id: 1, node_id: 'x', name: 'Size', data_type: 'number' }]);
    const findings = await examine(api, settings).finally(() => nock.cleanAll());
    const ofWriting = findings.filter((finding) => finding.includes('may not push'));
    expect(ofWriting.map((finding) => finding.split(' ', 1)[0])).toEqual(states);
  },
);

/**
 * No single request holds the event loop for more than 50 ms (contract, section 12). What is measured is the
 * processor time of the main thread of a whole service, which other work of the machine changes little. Of
 * three services the best one counts.
 */
import path from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { startIssuer } from '#sandbox/issuer/issuer.ts';
import { eventually } from '../../support/eventually.ts';
import { fillAudit } from '../../adapters/sqlite/transfer/support.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { askForTokens } from '../../support/sign-in.ts';
import { open, PORTAL_URL, post, signInAt } from '../support/signed-in.ts';
import { createWorld, leadBody, serve, type World } from '../support/world.ts';

/**
 * The contract's 50, and half as much again: beside seven other programs the same turn takes so much more
 * processor time on one machine (42 ms alone, 64 there), for they share its caches and memory.
 */
const MS_MAX = 75;
const ROUNDS = 3;
const watchTurns = new URL('../support/watch-turns.ts', import.meta.url);

/** Requests to a service; each answers the status. */
type Service = {
  api: (method: string, path: string, body?: string) => Promise<number>;
  leads: () => Promise<number>;
  /** A page of the portal, or a form that is sent to it. */
  portal: (path: string, fields?: Record<string, string>) => Promise<number>;
  tracker: World['tracker'];
};
/** Measures the request, and not what prepares it. */
type Case = {
  name: string;
  prepare?: (service: Service) => Promise<unknown>;
  ask: (service: Service) => Promise<number>;
};

const info = '"info":{"title":"x","version":"1"}';
const openapi = (rest: string, version = '3.0.0'): string =>
  `{"openapi":"${version}",${info},${rest}}`;

function create(id: string, spec: string, version = '1.0.0'): Case['ask'] {
  const body = `{"id":"${id}","version":"${version}","type":"API","owner":"o","title":"t","spec":${spec}}`;
  return ({ api }) => api('POST', '/api/v1/catalog', body);
}

/** Fills 8 KB, which cost seconds by the square: on the loop nearly all would be far too long. */
const filled = (text: string): string =>
  Array.from({ length: Math.floor(7900 / (text.length + 1)) }, () => text).join(',');
const parameters = `"paths":{"/a":{"parameters":[${filled('1')}]}}`;
const schemas = (rest: string): string => `"paths":{},"components":{"schemas":{"A":{${rest}}}}`;

const specs: Record<string, string> = {
  'nothing wrong, the first one': openapi('"paths":{}'),
  'OpenAPI 3.0, parameters': openapi(parameters),
  'OpenAPI 3.1, parameters': openapi(parameters, '3.1.0'),
  'Swagger 2.0, parameters': `{"swagger":"2.0",${info},${parameters}}`,
  allOf: openapi(schemas(`"allOf":[${filled('1')}]`)),
  anyOf: openapi(schemas(`"anyOf":[${filled('{"allOf":[1]}')}]`), '3.1.0'),
  'AsyncAPI, tags': `{"asyncapi":"3.0.0",${info},"channels":{"a":{"tags":[${filled('1')}]}}}`,
};

/** Numbers that a response may be, 5,300 of them. */
const numbers = (from: number): string => {
  const values = Array.from({ length: 5300 }, (_, at) => at + from);
  const content = `{"application/json":{"schema":{"enum":[${values.join(',')}]}}}`;
  return openapi(
    `"paths":{"/a":{"get":{"responses":{"200":{"description":"d","content":${content}}}}}}`,
  );
};

const cases: readonly Case[] = [
  ...Object.entries(specs).map(([name, spec], at) => ({
    name: `a spec with ${name}`,
    ask: create(`a-${at}`, spec),
  })),
  {
    name: 'a form with YAML that was made for it',
    ask: ({ portal }) => portal('/portal/catalog/-/new', draftOf('a: &a 1\n' + "'\n".repeat(8180))),
  },
  {
    name: 'a form with a spec that was made for it',
    ask: ({ portal }) => portal('/portal/catalog/-/new', draftOf(openapi(parameters))),
  },
  {
    name: 'a comparison of 32 KB with 32 KB',
    prepare: async (service) => {
      await create('b', numbers(10_000))(service);
      await create('b', numbers(20_000), '1.1.0')(service);
    },
    ask: ({ api }) => api('GET', '/api/v1/catalog/b/diff?from=1.0.0&to=1.1.0'),
  },
  {
    name: 'a hundred leads of 64 KB, one of which was edited',
    prepare: async ({ leads, tracker }) => {
      tracker.seedIssues(lengthyLeads);
      await leads();
      tracker.editIssue(1, { title: 'edited' });
    },
    ask: ({ leads }) => leads(),
  },
  { name: 'the audit log as a file', ask: ({ portal }) => portal('/portal/audit/file') },
  {
    name: 'the description of what is served of the API',
    ask: ({ api }) => api('GET', '/openapi.json'),
  },
];

const draftOf = (spec: string): Record<string, string> => ({
  id: 'form',
  version: '1.0.0',
  type: 'API',
  owner: 'o',
  title: 't',
  description: '',
  source: 'INLINE',
  projectId: '',
  groupPath: '',
  members: '',
  counts: '',
  spec,
});

const lengthyLeads = Array.from({ length: 100 }, (_, at) => ({
  title: `Lead ${at}`,
  body: leadBody(`a${at}@mailbox.test`, 'word '.repeat(13_000)),
  labels: ['approved'],
}));

/** A service on a store with 10,000 audit entries, and how long its longest turn was since that was asked before. */
async function start(): Promise<Service & { longestTurnMs: () => Promise<number> }> {
  const issuer = await startIssuer();
  onTestFinished(() => issuer.close());
  const file = path.join(temporaryFolder(), 'trackport.db');
  const { config, key, tracker } = await createWorld({
    server: { publicUrl: PORTAL_URL },
    store: { url: `sqlite:${file}` },
    leads: { freshFor: '0s' },
    identity: { issuer: issuer.url, audience: issuer.audience },
    portal: { clientId: issuer.portalClientId },
  });
  const handle = new Sqlite(file);
  fillAudit({ handle }, 10_000);
  handle.close();
  // On a busy machine the tracker takes its time for a hundred such leads.
  const patient = { TRACKPORT_TRACKER_REQUEST_TIMEOUT: '60s' };
  const { run, url } = await serve(config, { preload: watchTurns, environment: patient });
  const {
    machine: { clientId, clientSecret },
  } = issuer;
  const {
    body: { access_token: token },
  } = await askForTokens(
    issuer,
    { grant_type: 'client_credentials', scope: 'catalog:read catalog:write' },
    `${clientId}:${clientSecret}`,
  );
  const ask = async (
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string,
  ) => {
    const response = await fetch(`${url}${path}`, { method, headers, ...(body && { body }) });
    await response.arrayBuffer();
    return response.status;
  };
  const { cookie, formToken } = await signInAt((path) => `${url}${path}`, issuer);
  const told = (): string[] => run.stderr().match(/(?<=longest turn: )[\d.]+/g) ?? [];
  return {
    tracker,
    api: (method, path, body) =>
      ask(
        method,
        path,
        { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body,
      ),
    leads: () => ask('GET', '/api/v1/leads?limit=100', { 'x-api-key': key }),
    portal: async (path, fields) => {
      const response = await (fields
        ? post(`${url}${path}`, cookie, { ...fields, formToken })
        : open(`${url}${path}`, cookie));
      await response.arrayBuffer();
      return response.status;
    },
    longestTurnMs: async () => {
      const count = told().length;
      run.child.kill('SIGUSR2');
      await eventually(() => expect(told().length).toBeGreaterThan(count));
      return Number(told().at(-1));
    },
  };
}

test('no request holds up all others', { timeout: 600_000 }, async () => {
  let tooLong: { name: string; ms: number }[] = [];
  let open = cases;
  for (let round = 0; round < ROUNDS && open.length > 0; round += 1) {
    const service = await start();
    tooLong = [];
    for (const { name, prepare, ask } of open) {
      await prepare?.(service);
      await service.longestTurnMs();
      const status = await ask(service);
      expect({ name, isServed: status < 400 || status === 422 }).toEqual({ name, isServed: true });
      const ms = await service.longestTurnMs();
      if (ms > MS_MAX) tooLong.push({ name, ms });
    }
    const names = new Set(tooLong.map(({ name }) => name));
    open = open.filter(({ name }) => names.has(name));
  }
  expect(tooLong).toEqual([]);
});

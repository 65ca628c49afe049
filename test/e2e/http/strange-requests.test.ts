import { signedBy } from '../../support/signed-by.ts';
import { request } from 'node:http';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type JsonObject, type OpenDocument, operationsOf } from '../../support/http/openapi.ts';
import {
  addressOf,
  ALL_SCOPES,
  type Answer,
  openSandbox,
  read,
  type SandboxCalls,
  tokenOf,
} from '../support/sandbox-calls.ts';

/** Requests that nobody would make on purpose, made from openapi.json against the whole program. */
type World = SandboxCalls & {
  headers: Record<string, string>;
  /** Values of path parameters that name something, by the template. */
  named: (path: string) => string[];
};

const CATALOG = '/api/v1/catalog';
const CONSUMERS = '/api/v1/consumers';
const DELETIONS = '/api/v1/webhooks/partners/{partnerId}/deletions';
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

const draft = { id: 'orders', type: 'API', owner: 'team-orders', title: 'Orders' };

/** A sandbox with one of everything, and credentials that open every door. */
async function openWorld(atEnd: (end: () => Promise<void>) => void): Promise<World> {
  const sandbox = await openSandbox(atEnd);
  const { ask, banner } = sandbox;
  const token = { authorization: `Bearer ${await tokenOf(banner, ALL_SCOPES)}` };
  const grants = [{ action: 'leads:read' }];
  const consumer = { name: 'Everything', grants, limitPerMinute: 1_000_000 };
  const made = await ask('POST', CONSUMERS, { headers: token, body: consumer });
  const { id, key } = JSON.parse(made.text) as { id: string; key: string };
  await ask('POST', CATALOG, { headers: token, body: draft });
  const receipt = await ask('POST', DELETIONS, signed(banner, { leadId: '9' }));
  const receiptId = (JSON.parse(receipt.text) as { id: string }).id;
  const named = (path: string): string[] => {
    if (path.startsWith(CATALOG)) return [draft.id];
    if (path.startsWith(CONSUMERS)) return [id, key.split('_')[1] ?? ''];
    if (path.includes('/receipts')) return [receiptId];
    return path.includes('partnerId') ? ['crm-one'] : ['14'];
  };
  return { ...sandbox, headers: { ...token, 'x-api-key': key }, named };
}

function signed(banner: string, body: object) {
  const secret = read(banner, /-hmac '(sandbox_crm1_\w+)'/);
  const text = JSON.stringify(body);
  const headers = signedBy('hmac-sha256', secret, { body: text });
  return { at: ['crm-one'], headers, body: text };
}

/** Thousands of calls, on a machine that may have others to serve. */
const TIMEOUT_MS = 120_000;

/** Requests of these tests are refused, or change nothing: they share one. */
let world: World;
let end: (() => Promise<void>) | undefined;
beforeAll(async () => {
  world = await openWorld((stop) => (end = stop));
}, TIMEOUT_MS);
afterAll(() => end?.());

const ajv = new Ajv2020({ strict: false, allErrors: true });
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);

const compiled = new WeakMap<JsonObject, (value: unknown) => boolean>();

/** True when a value fits a schema of the document. */
function fits(document: OpenDocument, schema: JsonObject, value: unknown): boolean {
  const known = compiled.get(schema);
  if (known) return known(value);
  const validate = ajv.compile({ ...schema, components: document.components });
  compiled.set(schema, validate);
  return validate(value);
}

/** Texts for parameters: borders, other types, what other languages take for something, and noise. */
const texts = [
  '',
  ' ',
  '0',
  '1',
  '-1',
  '1.5',
  '101',
  '99999999999',
  'null',
  '[]',
  '\u0000',
  '\u{1F408}',
  '%',
  "' or 1=1 --",
  '../..',
  'a,b',
  '2026-02-30',
  '2026-03-01',
  'x'.repeat(600),
  'open',
  'API',
  ...fc.sample(fc.string({ maxLength: 12, unit: 'grapheme' }), { seed: 8, numRuns: 4 }),
];

/** Values for fields of a body. */
const values = [
  null,
  true,
  0,
  1.5,
  -1,
  1e300,
  '',
  ' ',
  'x',
  '\u0000',
  'x'.repeat(20_000),
  [],
  [null],
  ['x', 'x'],
  {},
  { x: 1 },
  Array.from({ length: 1001 }, (_, at) => `a${at}`),
];

const foreignWords =
  /Invalid input|Invalid (?:string|option|ISO)|received|Too (?:small|big)|Unrecognized/;

function problemOf({ text }: Answer) {
  return JSON.parse(text) as {
    code: string;
    detail?: string;
    errors?: { pointer?: string; parameter?: string; detail: string }[];
  };
}

/** Faults in the wording of a problem. */
function foreignIn(answer: Answer): string[] {
  if (answer.status < 400 || answer.text === '') return [];
  const { detail = '', errors = [] } = problemOf(answer);
  return [detail, ...errors.map((error) => error.detail)].filter((one) => foreignWords.test(one));
}

/** Complaints about the answers of this test alone. */
async function complaintsOf(work: (complain: (text: string) => void) => Promise<void>) {
  world.complaints.clear();
  const found = new Set<string>();
  await work((text) => void found.add(text));
  return [...world.complaints, ...found];
}

test(
  'query parameters: what breaks a schema is refused by name, and every answer is declared',
  async () => {
    const { ask, document, headers, named } = world;
    const complaints = await complaintsOf(async (complain) => {
      for (const { path, method, operation } of operationsOf(document)) {
        if (path.includes('/webhooks/')) continue; // their query is signed or ignored
        const at = named(path);
        const call = (query: string) => ask(method.toUpperCase(), path, { at, query, headers });
        const refuse = async (query: string, name: string): Promise<void> => {
          const answer = await call(query);
          for (const foreign of foreignIn(answer)) complain(`${method} ${path}: ${foreign}`);
          const isNamed =
            answer.status === 400 &&
            problemOf(answer).errors?.some(({ parameter }) => parameter === name);
          if (!isNamed) complain(`${method} ${path}${query}: ${answer.status} without ${name}`);
        };
        await refuse('?colour=red', 'colour');
        for (const { name, schema } of queryParametersOf(operation.parameters)) {
          const isList = schema['type'] === 'array';
          if (!isList) await refuse(`?${name}=1&${name}=1`, name);
          const work = texts.map(async (text) => {
            const query = `?${name}=${encodeURIComponent(text)}`;
            const value = isList ? [text] : toNumber(schema, text);
            if (!fits(document, schema, value)) await refuse(query, name);
            else if (method === 'get')
              for (const foreign of foreignIn(await call(query))) complain(`${path}: ${foreign}`);
          });
          await Promise.all(work);
        }
      }
    });
    expect(complaints).toEqual([]);
  },
  TIMEOUT_MS,
);

function queryParametersOf(parameters: { in: string; name: string; schema: JsonObject }[] = []) {
  return parameters.filter((parameter) => parameter.in === 'query');
}

function toNumber({ type }: JsonObject, text: string): unknown {
  return type === 'integer' && /^-?\d+$/.test(text) ? Number(text) : text;
}

test(
  'bodies: every field that breaks its schema is named, in our words',
  async () => {
    const { ask, document, headers, named } = world;
    const complaints = await complaintsOf(async (complain) => {
      for (const { path, method, schema } of bodiesOf(document)) {
        const example = (schema['examples'] as JsonObject[])[0] ?? {};
        const call = (body: unknown) =>
          ask(method.toUpperCase(), path, {
            at: named(path),
            headers: { ...headers, 'if-match': '"x"' },
            body: JSON.stringify(body),
          });
        const refuse = async (body: unknown, pointer: string): Promise<void> => {
          const answer = await call(body);
          for (const foreign of foreignIn(answer)) complain(`${method} ${path}: ${foreign}`);
          const isNamed =
            answer.status === 400 &&
            problemOf(answer).errors?.some((error) => error.pointer?.startsWith(pointer));
          if (!isNamed)
            complain(
              `${method} ${path} ${JSON.stringify(body).slice(0, 80)}: ${answer.status} without ${pointer}`,
            );
        };
        for (const body of [null, 1, 'x', [], true]) await refuse(body, '#');
        await refuse({ ...example, colour: 'red' }, '#/colour');
        const fields = Object.entries(schema['properties'] as Record<string, JsonObject>);
        for (const [name, field] of fields) {
          const wrong = values.filter((value) => !fits(document, field, value));
          await Promise.all(
            wrong.map((value) => refuse({ ...example, [name]: value }, `#/${name}`)),
          );
        }
      }
    });
    expect(complaints).toEqual([]);
  },
  TIMEOUT_MS,
);

/** Operations that take a JSON object of named fields. */
function bodiesOf(document: OpenDocument) {
  return operationsOf(document).flatMap(({ path, method, operation }) => {
    const reference = operation.requestBody?.content['application/json']?.schema['$ref'];
    const schema = document.components.schemas[String(reference).split('/').at(-1) ?? ''];
    return schema?.['properties'] ? [{ path, method, schema }] : [];
  });
}

test(
  'headers: any value has an answer that is declared',
  async () => {
    const { ask, document, headers, named } = world;
    const complaints = await complaintsOf(async (complain) => {
      for (const { path, method, operation } of operationsOf(document))
        for (const { name } of (operation.parameters ?? []).filter((one) => one.in === 'header'))
          for (const value of ['', 'x', '*', '"a", W/"b"', '"open', '0'.repeat(300), 'a b', 'é']) {
            const given = { ...headers, [name]: value };
            const answer = await ask(method.toUpperCase(), path, {
              at: named(path),
              headers: given,
            });
            for (const foreign of foreignIn(answer)) complain(`${method} ${path}: ${foreign}`);
          }
    });
    expect(complaints).toEqual([]);
  },
  TIMEOUT_MS,
);

test(
  'addresses: wrong methods and paths, escapes, HEAD, and a GET with a body',
  async () => {
    expect(addresses().length).toBeGreaterThan(20);
    await refusesOtherMethods();
    await findsNothingBesideThePaths();
    await readsEscapesAsLetters();
    await answersHeadLikeGet();
    await ignoresTheBodyOfGet();
  },
  TIMEOUT_MS,
);

/** 405 with the methods that the path has. */
async function refusesOtherMethods(): Promise<void> {
  for (const address of addresses()) {
    const allowed = methodsOf(address);
    for (const method of METHODS.filter((name) => !allowed.includes(name))) {
      const answer = await call(method, address);
      expect({ address, method, status: answer.status }).toEqual({ address, method, status: 405 });
      expect(answer.headers.get('allow')).toBe(allowed.join(', '));
      expectProblem(answer, method);
    }
  }
}

/** 404, whatever the method. */
async function findsNothingBesideThePaths(): Promise<void> {
  const templates = Object.keys(world.document.paths).map(patternOf);
  const wrong = addresses().flatMap((address) => [
    `${address}/`,
    `${address}/x`,
    `${address}x/y`,
    `/${address}`,
    address.toUpperCase(),
    address.replace('/v1', '/v2'),
    address.replace('/v1/', '/v1//'),
  ]);
  for (const address of wrong.filter((one) => !templates.some((known) => known.test(one))))
    for (const method of ['GET', 'POST']) {
      const answer = await call(method, address);
      expect({ address, method, status: answer.status }).toEqual({ address, method, status: 404 });
      expectProblem(answer, method);
    }
}

async function readsEscapesAsLetters(): Promise<void> {
  for (const address of readAddresses()) {
    const { status } = await call('GET', address);
    for (const [at, segment] of address.split('/').entries()) {
      if (segment === '') continue;
      const letter = `%${segment.charCodeAt(0).toString(16)}`;
      const escaped = address
        .split('/')
        .with(at, letter + segment.slice(1))
        .join('/');
      expect({ escaped, status: (await call('GET', escaped)).status }).toEqual({ escaped, status });
    }
  }
}

async function answersHeadLikeGet(): Promise<void> {
  for (const address of readAddresses()) {
    const [head, { status }] = [await call('HEAD', address), await call('GET', address)];
    expect({ address, status: head.status, text: head.text }).toEqual({
      address,
      status,
      text: '',
    });
  }
}

async function ignoresTheBodyOfGet(): Promise<void> {
  const bodies: [headers: Record<string, string>, body: string][] = [
    [{ 'content-type': 'application/json' }, '{"limit":0}'],
    [{ 'content-type': 'application/json' }, '{'],
    [{ 'content-type': 'application/json; charset=latin1' }, '{}'],
    [{ 'content-type': 'text/plain' }, 'x'],
    [{ 'content-encoding': 'gzip' }, 'x'],
    [{ 'transfer-encoding': 'chunked' }, 'x'],
    [{ 'transfer-encoding': 'chunked', 'content-type': 'x' }, ''],
  ];
  for (const address of readAddresses()) {
    const { status } = await call('GET', address);
    for (const [given, body] of bodies) {
      const headers = { ...world.headers, ...given };
      const answered = await getWithBody(address, { headers, body });
      expect({ address, given, status: answered }).toEqual({ address, given, status });
    }
  }
}

async function call(method: string, address: string): Promise<Answer> {
  const answer = await fetch(`${world.url}${address}`, { method, headers: world.headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

function addresses(): string[] {
  return Object.keys(world.document.paths).map((path) => addressOf(path, world.named(path)));
}

function readAddresses(): string[] {
  return operationsOf(world.document)
    .filter(({ method }) => method === 'get')
    .map(({ path }) => addressOf(path, world.named(path)));
}

/** One address can be that of several templates: `/receipts/replay` is `/receipts/{id}`, too. */
function methodsOf(address: string): string[] {
  const items = Object.entries(world.document.paths).filter(([path]) =>
    patternOf(path).test(address),
  );
  const known = items.flatMap(([, item]) => Object.keys(item).map((name) => name.toUpperCase()));
  return [...new Set([...known, ...(known.includes('GET') ? ['HEAD'] : [])])].toSorted();
}

const problem = { $ref: '#/components/schemas/Problem' };

function expectProblem({ headers, text }: Answer, method: string): void {
  expect(headers.get('content-type')).toBe('application/problem+json');
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  if (method !== 'HEAD') expect(fits(world.document, problem, JSON.parse(text))).toBe(true);
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]*')}$`);
}

/** `fetch` sends no body with a GET, and Node's client no length. */
function getWithBody(
  address: string,
  { headers, body }: { headers: Record<string, string>; body: string },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const isChunked = 'transfer-encoding' in headers;
    const length = isChunked ? {} : { 'content-length': Buffer.byteLength(body) };
    const options = { method: 'GET', headers: { ...headers, ...length } };
    const call = request(`${world.url}${address}`, options, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    call.on('error', reject).end(body);
  });
}

/** A caller that hangs up is made known to those that work for the request, so that they stop. */
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { HttpApp } from '#http/context.ts';
import { openWorld, startPortal } from '../../support/world.ts';
import { eventually } from '../../support/eventually.ts';
import type { ParseForm } from '#portal/routes/form-bodies.ts';
import { action } from '#portal/routes/action-route.ts';
import { buildTestApp, PUBLIC_URL } from '../../support/http/app.ts';
import { buildPartnerServer, signedHeaders } from '../../partners/support.ts';
import { tokenFor } from '../../support/tokens.ts';

type Asked = { path: string; method?: string; headers?: Record<string, string>; body?: string };

/** Stands in for work: it has no end, and remembers for whom it is. */
function createWork() {
  const signals: (AbortSignal | undefined)[] = [];
  const begin = (signal: AbortSignal | undefined): Promise<never> => {
    signals.push(signal);
    return new Promise(() => undefined);
  };
  /** Hangs up while the request is worked on; true once that is known there. */
  const hangUp = async (app: HttpApp, { body = '', headers = {}, ...asked }: Asked) => {
    await app.listen({ port: 0, host: '127.0.0.1' });
    onTestFinished(() => app.close());
    const { port } = app.server.address() as AddressInfo;
    const outgoing = httpRequest({
      host: '127.0.0.1',
      port,
      method: 'POST',
      agent: false,
      ...asked,
      headers,
    });
    outgoing.on('error', () => undefined).end(body);
    await eventually(() => expect(signals.map((signal) => signal?.aborted)).toEqual([false]));
    outgoing.destroy();
    return eventually(() => (signals[0]?.aborted === true ? true : notYet()));
  };
  return { begin, hangUp };
}

function notYet(): never {
  throw new Error('nobody was told');
}

const json = { 'content-type': 'application/json' };

test('to what reads JSON', async () => {
  const { begin, hangUp } = createWork();
  const app = buildTestApp({ parseJson: (_bytes, _rules, signal) => begin(signal) });
  app.post('/x', { schema: { body: z.unknown() } }, async () => 'ok');
  expect(await hangUp(app, { path: '/x', headers: json, body: '{}' })).toBe(true);
});

test('to what reads what a partner sent', async () => {
  const { begin, hangUp } = createWork();
  const { app } = buildPartnerServer({ readDelivery: (_body, _fields, signal) => begin(signal) });
  const path = '/api/v1/webhooks/partners/crm-one/deletions';
  expect(
    await hangUp(app, { path, headers: signedHeaders('crm-one', { body: '{}' }), body: '{}' }),
  ).toBe(true);
});

test('to what reads a form', async () => {
  const { begin, hangUp } = createWork();
  const form = action({ path: '/portal/things', run: async () => ({ location: '/portal' }) });
  const parseForm: ParseForm = (_bytes, signal) => begin(signal);
  const { app, signIn } = startPortal([form], { context: { parseForm } });
  const { cookie = '' } = await signIn();
  const headers = {
    cookie,
    origin: PUBLIC_URL,
    'content-type': 'application/x-www-form-urlencoded',
  };
  expect(await hangUp(app, { path: '/portal/things', headers, body: 'a=1' })).toBe(true);
});

const draft = { id: 'a', type: 'API', owner: 'o', title: 't' };
const headers = { ...json, authorization: `Bearer ${tokenFor()}` };
const path = '/api/v1/catalog';

test('to what reads a spec', async () => {
  const { begin, hangUp } = createWork();
  const readSpecBody = (_bytes: Buffer, signal?: AbortSignal) => begin(signal);
  const { app } = openWorld({ bearer: { readSpecBody } });
  expect(await hangUp(app, { path, headers, body: '{}' })).toBe(true);
});

test('to what validates a spec', async () => {
  const { begin, hangUp } = createWork();
  const { app } = openWorld({ catalog: { checkSpec: (_text, signal) => begin(signal) } });
  expect(await hangUp(app, { path, headers, body: JSON.stringify({ ...draft, spec: {} }) })).toBe(
    true,
  );
});

test.each(['diff?from=1.0.0&to=1.1.0', 'spec?version=1.0.0'])(
  'to what works for %s',
  async (what) => {
    const { begin, hangUp } = createWork();
    const { app, callCatalog: call } = openWorld({
      catalog: {
        diffSpecs: (_specs, signal) => begin(signal),
        renderSpecYaml: (_text, signal) => begin(signal),
      },
    });
    for (const version of ['1.0.0', '1.1.0'])
      await call('POST', '', { body: { ...draft, version, spec: { version } } });
    const asked = { path: `${path}/a/${what}`, method: 'GET' };
    expect(
      await hangUp(app, { ...asked, headers: { ...headers, accept: 'application/yaml' } }),
    ).toBe(true);
  },
);

test('to what compares a version that is to be published', async () => {
  const { begin, hangUp } = createWork();
  const { app, callCatalog: call } = openWorld({
    catalog: { diffSpecs: (_specs, signal) => begin(signal) },
  });
  for (const version of ['1.0.0', '1.1.0']) {
    const spec = { openapi: '3.1.0', info: { title: 't', version }, paths: {} };
    await call('POST', '', { body: { ...draft, version, spec } });
  }
  expect((await call('POST', '/a/publish?version=1.0.0')).status).toBe(200);
  expect(await hangUp(app, { path: `${path}/a/publish?version=1.1.0`, headers })).toBe(true);
});

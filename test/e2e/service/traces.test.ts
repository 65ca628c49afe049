/** OpenTelemetry traces of the real process, as a collector receives them. */
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { bodyOf, people } from '../support/people.ts';
import { eventually } from '../../support/eventually.ts';
import { createWorld, listLeads, serve, TRACKER_TOKEN, WEBHOOK_SECRET } from '../support/world.ts';
import { openServer } from '../../support/http/local-server.ts';

type Value = { stringValue?: string; intValue?: number | string; boolValue?: boolean };

/** A span as OTLP has it in JSON. */
type ReceivedSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: Value }[];
  links?: { traceId: string; spanId: string }[];
};

type ExportRequest = { resourceSpans: { scopeSpans: { spans: ReceivedSpan[] }[] }[] };

/** Takes what an OpenTelemetry exporter sends over HTTP, and keeps it as it came. */
async function startCollector() {
  const bodies: string[] = [];
  const url = await openServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      bodies.push(JSON.stringify(request.headers), body);
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  const spans = (): ReceivedSpan[] =>
    bodies
      .map((body) => JSON.parse(body) as Partial<ExportRequest>)
      .flatMap(({ resourceSpans = [] }) => resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  return {
    url,
    /** Headers and bodies of every request so far. */
    bytes: () => bodies.join('\n'),
    spans,
  };
}

/** The span and those above it, from the root on. */
function pathTo(spans: readonly ReceivedSpan[], span: ReceivedSpan): ReceivedSpan[] {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
  return parent ? [...pathTo(spans, parent), span] : [span];
}

const PARTNER_SECRET = 'a-partner-secret-of-this-test';
const EXTERNAL_ID = 'external-4711';
const [person] = people;

const settings = {
  partners: {
    'crm-one': {
      scheme: 'hmac-sha256',
      secrets: [PARTNER_SECRET],
      deletions: { actions: ['relabel', 'close', 'redact'] },
    },
  },
};

const DELETIONS = '/api/v1/webhooks/partners/crm-one/deletions';

async function sendDeletion(url: string, headers: Record<string, string> = {}) {
  const body = JSON.stringify({
    eventId: 'event-of-this-test',
    externalId: EXTERNAL_ID,
    email: person.email,
  });
  const signature = createHmac('sha256', PARTNER_SECRET).update(body).digest('hex');
  const response = await fetch(`${url}${DELETIONS}?from=${encodeURIComponent(person.email)}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-partner-signature': `sha256=${signature}`,
      ...headers,
    },
    body,
  });
  expect(response.status).toBe(202);
  return { signature, location: response.headers.get('location') ?? '' };
}

async function createPerson() {
  const world = await createWorld(settings);
  const { number } = world.tracker.createIssue({
    title: `From ${person.firstName}`,
    body: bodyOf(person),
    labels: ['approved'],
  });
  const untilClosed = () =>
    eventually(() => expect(world.tracker.readIssue(number)?.state).toBe('closed'));
  return { ...world, number, untilClosed };
}

test('one trace leads from the deletion to the write on the tracker, and tells nothing of the person', async () => {
  const { config, key, untilClosed } = await createPerson();
  const collector = await startCollector();
  const { run, url } = await serve(config, {
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  });
  for (let calls = 0; calls < 2; calls += 1) await listLeads(url, key); // on one connection
  const foreign = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };
  const sent = await sendDeletion(url, {
    traceparent: `00-${foreign.traceId}-${foreign.spanId}-01`,
    'x-correlation-id': 'of-the-partner',
  });
  await fetch(sent.location);
  await untilClosed();
  run.child.kill('SIGTERM');

  expect(await run.exited).toBe(0);
  const spans = collector.spans();
  const write = spans.find(({ name }) => name.startsWith('PATCH '));
  const way = write ? pathTo(spans, write) : [];
  expect(way.map(({ name }) => name)).toEqual([
    'POST /api/v1/webhooks/partners/:partnerId/deletions',
    'act on deletion',
    'PATCH /repos/{owner}/{repo}/issues/{issue_number}',
  ]);
  expect(new Set(way.map(({ traceId }) => traceId)).size).toBe(1);
  const [request] = way;
  expect(request?.traceId).not.toBe(foreign.traceId);
  expect(request?.links).toMatchObject([foreign]);
  const names = spans.filter(({ traceId }) => traceId === request?.traceId).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['commit delivery', 'match deletion']));
  const reads = spans.filter(({ name }) => name === 'GET /api/v1/leads');
  expect(new Set(reads.map(({ traceId }) => traceId)).size).toBe(2);
  expect(reads.map(({ parentSpanId }) => parentSpanId)).toEqual([undefined, undefined]);
  const hidden = [
    ...Object.values(person),
    EXTERNAL_ID,
    'event-of-this-test',
    sent.signature,
    sent.location.split('/').at(-1) ?? '',
    PARTNER_SECRET,
    WEBHOOK_SECRET,
    TRACKER_TOKEN,
    key,
  ];
  const bytes = collector.bytes().toLowerCase();
  const told = hidden.filter((text) => text.length > 0 && bytes.includes(text.toLowerCase()));
  expect(told).toEqual([]);
});

/** Takes every request and never responds. */
const silent = () => openServer(() => undefined);

test('a collector that is silent holds up neither a call nor a stop', async () => {
  const { config, untilClosed } = await createPerson();
  const { run, url } = await serve(config, {
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: await silent(),
      OTEL_EXPORTER_OTLP_TIMEOUT: '60000', // longer than a test may take
    },
  });

  await sendDeletion(url);
  await untilClosed();
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  run.child.kill('SIGTERM');

  expect(await run.exited).toBe(0);
  expect(run.log().map(({ msg }) => msg)).toContain('stopped');
});

const tellLoaded = new URL('../support/tell-loaded.ts', import.meta.url);

/** Packages of OpenTelemetry that a process has loaded when it listens. */
async function loadedWith(environment: Record<string, string>): Promise<string[]> {
  const { config } = await createWorld();
  const { run } = await serve(config, { preload: tellLoaded, environment });
  const found = run.stderr().matchAll(/\/(@opentelemetry\/[^/]+)\//g);
  return [...new Set([...found].map(([, name = '']) => name))].toSorted();
}

test('without the variables nothing of OpenTelemetry is loaded but the interface that prom-client needs', async () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
  const interfaceOnly = ['@opentelemetry/api'];

  expect(await loadedWith({})).toEqual(interfaceOnly);
  expect(await loadedWith({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toEqual(interfaceOnly);
  expect(await loadedWith(endpoint)).toContain('@opentelemetry/sdk-trace');
});

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

type Value = { stringValue?: string; intValue?: number | string; boolValue?: boolean };

/** A span as OTLP has it in JSON. */
export type ReceivedSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: Value }[];
  links?: { traceId: string; spanId: string }[];
};

type ExportRequest = { resourceSpans: { scopeSpans: { spans: ReceivedSpan[] }[] }[] };

/** Takes what an OpenTelemetry exporter sends over HTTP, and keeps it as it came. */
export async function startCollector() {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      bodies.push(JSON.stringify(request.headers), body);
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const spans = (): ReceivedSpan[] =>
    bodies
      .map((body) => JSON.parse(body) as Partial<ExportRequest>)
      .flatMap(({ resourceSpans = [] }) => resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Headers and bodies of every request so far. */
    bytes: () => bodies.join('\n'),
    spans,
  };
}

/** The span and those above it, from the root on. */
export function pathTo(spans: readonly ReceivedSpan[], span: ReceivedSpan): ReceivedSpan[] {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
  return parent ? [...pathTo(spans, parent), span] : [span];
}

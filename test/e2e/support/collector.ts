import { openServer } from '../../support/http/local-server.ts';

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
export function pathTo(spans: readonly ReceivedSpan[], span: ReceivedSpan): ReceivedSpan[] {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
  return parent ? [...pathTo(spans, parent), span] : [span];
}

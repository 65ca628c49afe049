/**
 * Spans by OpenTelemetry, sent as OTLP over HTTP. Loaded only where traces are on: see `src/compose/service.ts`.
 * Nothing is registered globally, and nothing of a collector's state reaches a request.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  type Link,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { type Clock, SECOND } from '#shared/clock.ts';
import { errorFields, type Log } from '#shared/log.ts';
import { VERSION } from '#shared/program.ts';
import type { Span, SpanOptions, Tracing } from '#shared/tracing.ts';

/** A stop waits no longer for the collector, so that it ends within 10 s. */
const FLUSH_WAIT_MS = SECOND;

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const;

/** Spans that are exported in batches; those that find no room in the queue of 2,048 are dropped. */
export function createTracing({
  settings,
  clock,
  log,
}: {
  settings: { sampledRatio: number };
  clock: Pick<Clock, 'sleep'>;
  log: Log;
}): Tracing & {
  /** Sends what waits, for at most a second. Never throws. */
  close(): Promise<void>;
} {
  const provider = new TracerProvider({
    resource: describeService(),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(settings.sampledRatio) }),
    spanProcessors: [
      new BatchSpanProcessor({ exporter: reportFailures(new OTLPTraceExporter(), log) }),
    ],
  });
  const tracer = provider.getTracer('trackport', VERSION);
  const running = new AsyncLocalStorage<SdkSpan>();
  return {
    start: (name, options = {}) => startSpan(tracer, running, name, options),
    current: () => {
      const span = running.getStore();
      return span && writeTraceparent(span.spanContext());
    },
    close: async () => {
      const late = new AbortController();
      const waited = clock.sleep(FLUSH_WAIT_MS, { signal: late.signal, unref: true });
      await Promise.race([provider.shutdown(), waited]).catch(() => undefined);
      late.abort();
      await waited.catch(() => undefined);
    },
  };
}

/** `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` win; the process and its arguments stay untold. */
function describeService() {
  const own = resourceFromAttributes({
    'service.name': 'trackport',
    'service.version': VERSION,
  });
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
}

/** One line when it begins to fail and one when it is over: a collector is away for hours. */
function reportFailures(exporter: SpanExporter, log: Log): SpanExporter {
  let isFailing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const hasFailed = result.error !== undefined;
        if (hasFailed && !isFailing)
          log.warn(errorFields(result.error), 'the collector takes no traces: they are dropped');
        if (!hasFailed && isFailing) log.info({}, 'the collector takes traces again');
        isFailing = hasFailed;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

function startSpan(
  tracer: Tracer,
  running: AsyncLocalStorage<SdkSpan>,
  name: string,
  options: SpanOptions,
): Span {
  const { kind = 'internal', attributes = {}, startedAgoMs } = options;
  const span = tracer.startSpan(
    name,
    {
      kind: kinds[kind],
      attributes: { ...attributes },
      links: linksTo(options.link),
      ...(startedAgoMs !== undefined && { startTime: Date.now() - startedAgoMs }),
    },
    parentOf(options, running.getStore()),
  );
  return {
    run: (work) => running.run(span, work),
    set: (more) => void span.setAttributes({ ...more }),
    end: (errorType) => {
      if (errorType !== undefined) {
        span.setAttribute('error.type', errorType);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
  };
}

function parentOf({ parent, isRoot = false }: SpanOptions, current: SdkSpan | undefined): Context {
  if (isRoot) return ROOT_CONTEXT;
  const remote = readTraceparent(parent);
  if (remote) return trace.setSpanContext(ROOT_CONTEXT, remote);
  return current ? trace.setSpan(ROOT_CONTEXT, current) : ROOT_CONTEXT;
}

function linksTo(traceparent: string | undefined): Link[] {
  const context = readTraceparent(traceparent);
  return context ? [{ context }] : [];
}

const VERSION_0 = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;
const SAMPLED = 0x01;

/** Undefined for anything that is no `traceparent` of version 0. @see https://www.w3.org/TR/trace-context/ */
export function readTraceparent(text: string | undefined): SpanContext | undefined {
  const [, traceId, spanId, flags] = VERSION_0.exec(text ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & SAMPLED, isRemote: true };
}

export function writeTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & SAMPLED).toString(16).padStart(2, '0')}`;
}

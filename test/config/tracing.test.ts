import { expect, test } from 'vitest';
import { readTracing } from '#config/environment.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

test.each([
  {},
  { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' },
  { ...endpoint, OTEL_SDK_DISABLED: 'TRUE' },
  { ...endpoint, OTEL_TRACES_EXPORTER: 'none' },
])('%o keeps traces off', (environment) => {
  expect(readTracing(environment)).toEqual({});
});

test.each([
  endpoint,
  { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' },
  { OTEL_TRACES_EXPORTER: 'otlp' },
  { ...endpoint, OTEL_SDK_DISABLED: 'false', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' },
])('%o turns them on', (environment) => {
  expect(readTracing(environment)).toEqual({ settings: { sampledRatio: 1 } });
});

test.each([
  ['always_off', undefined, 0],
  ['traceidratio', '0.25', 0.25],
  ['parentbased_traceidratio', '0.1', 0.1],
  ['traceidratio', 'many', 1],
])('the sampler %s with %s records %d of all traces', (sampler, argument, sampledRatio) => {
  const environment = {
    ...endpoint,
    OTEL_TRACES_SAMPLER: sampler,
    OTEL_TRACES_SAMPLER_ARG: argument,
  };
  expect(readTracing(environment)).toEqual({ settings: { sampledRatio } });
});

test.each([
  ['OTEL_TRACES_EXPORTER', 'zipkin'],
  ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'grpc'],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
])('%s=%s is told, and keeps them off', (name, value) => {
  expect(readTracing({ ...endpoint, [name]: value })).toEqual({ unsupported: name });
});

import type { Environment } from './interpolate.ts';

/** Settings of traces. OpenTelemetry's exporter itself reads where they go. */
type TracingSettings = {
  /** The part of all traces that is recorded: 0 to 1. */
  sampledRatio: number;
};

export type TracingChoice = {
  /** Undefined: traces are off. */
  settings?: TracingSettings;
  /** The variable whose value keeps them off although they are wanted. */
  unsupported?: string;
};

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
const PROTOCOLS = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'];

/**
 * Reads OpenTelemetry's variables: an endpoint, or the exporter `otlp`, asks for traces. A value that
 * cannot be honoured keeps them off and never stops a start.
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export function readTracing(environment: Environment): TracingChoice {
  const read = (name: string): string | undefined => environment[name]?.trim() || undefined;
  if (read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return {};
  const exporter = read('OTEL_TRACES_EXPORTER');
  const hasEndpoint = ENDPOINTS.some((name) => read(name) !== undefined);
  if (exporter === 'none' || (exporter === undefined && !hasEndpoint)) return {};
  if (exporter !== undefined && exporter !== 'otlp') return { unsupported: 'OTEL_TRACES_EXPORTER' };
  const protocol = PROTOCOLS.find((name) => read(name) !== undefined);
  // Collectors take protobuf and JSON at the same address, but gRPC at another.
  if (protocol !== undefined && !read(protocol)?.startsWith('http/'))
    return { unsupported: protocol };
  const sampledRatio = ratioOf(read('OTEL_TRACES_SAMPLER'), read('OTEL_TRACES_SAMPLER_ARG'));
  if (sampledRatio === undefined) return { unsupported: 'OTEL_TRACES_SAMPLER' };
  return { settings: { sampledRatio } };
}

/** Partners' calls begin traces of their own, so that with or without `parentbased_` is the same. */
function ratioOf(sampler = 'always_on', argument = '1'): number | undefined {
  const ratio = Number(argument);
  switch (sampler.replace(/^parentbased_/, '')) {
    case 'always_on':
      return 1;
    case 'always_off':
      return 0;
    case 'traceidratio':
      return ratio >= 0 && ratio <= 1 ? ratio : 1;
    default:
      return undefined;
  }
}

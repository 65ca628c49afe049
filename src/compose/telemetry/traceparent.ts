import type { SpanContext } from '@opentelemetry/api';

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

import { expect, test } from 'vitest';
import { readTraceparent, writeTraceparent } from '#adapters/opentelemetry/tracing.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test.each(['00', '01'])('flags %s come back as they were written', (flags) => {
  const context = readTraceparent(`00-${TRACE}-${SPAN}-${flags}`);
  expect(context).toMatchObject({ traceId: TRACE, spanId: SPAN, traceFlags: Number(flags) });
  expect(context && writeTraceparent(context)).toBe(`00-${TRACE}-${SPAN}-${flags}`);
});

test.each([
  undefined,
  '',
  'ada@example.org',
  `01-${TRACE}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01\n`,
])('%j is no traceparent', (text) => {
  expect(readTraceparent(text)).toBeUndefined();
});

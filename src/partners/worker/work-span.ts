import type { SpanOptions } from '#shared/tracing.ts';
import type { WorkItem } from './work-store.ts';

/** In the names of spans. */
export function spanSubject({ path }: Pick<WorkItem, 'path'>): 'event' | 'deletion' {
  return path === 'events' ? 'event' : 'deletion';
}

/** The span of one step on an event, below the delivery that asked for it. */
export function workSpan(
  name: string,
  { receiptId, traceparent }: Pick<WorkItem, 'receiptId' | 'traceparent'>,
): SpanOptions & { name: string } {
  return {
    name,
    kind: 'consumer',
    parent: traceparent,
    attributes: { 'trackport.receipt_id': receiptId },
  };
}

import { z } from 'zod';
import { codesOf } from '#shared/outcomes/entry.ts';
import { eventReasons } from '#shared/outcomes/events.ts';
import { traced, type Tracing } from '#shared/tracing.ts';
import { deletionActions } from '../partner.ts';
import { erasures, isDeletion, type PartnerPath, remainders } from '../receipts/receipt.ts';

const leadSchema = z.strictObject({
  number: z.int(),
  state: z.enum(['open', 'done', 'failed']),
  /** Why it failed. */
  error: z.enum(codesOf(eventReasons)).optional(),
  erasure: z.enum(erasures).optional(),
  /** Of a deletion: what is left on the issue, as it was when it was seen last. */
  remains: z.array(z.enum(remainders)).readonly().optional(),
  /**
   * `tried` is noted before the call, so that after a crash an absent issue counts as deleted;
   * `removed`: the tracker said that it is done.
   */
  removal: z.enum(['tried', 'removed', 'impossible']).optional(),
  /** Tries that were refused the deletion, in a way that may pass. */
  removalRefusals: z.int().optional(),
  isCommented: z.boolean().optional(),
  /** Tries that were refused the clearing of its typed fields. */
  fieldRefusals: z.int().optional(),
  /** It was given up: what the fields hold stays. */
  fieldsRemain: z.boolean().optional(),
  /** Since when the issue is not found, in ms: a replica that lags looks the same. */
  missingSince: z.int().optional(),
});

/** Effect of a rule of the configuration on the leads of one event. */
const effectSchema = z.strictObject({
  addLabels: z.array(z.string()),
  removeLabels: z.array(z.string()),
  assign: z.array(z.string()),
  state: z.enum(['open', 'closed']).optional(),
  /** By the tracker's names. */
  setFields: z
    .array(
      z.strictObject({
        name: z.string(),
        value: z.union([z.string(), z.number(), z.array(z.string()).readonly()]),
      }),
    )
    .optional(),
  comment: z.strictObject({ marker: z.string(), text: z.string() }).optional(),
  /** Whose issues the numbers of the leads are. */
  repositoryId: z.int().optional(),
});

const schema = z.discriminatedUnion('stage', [
  z.strictObject({
    stage: z.literal('match'),
    /** Time of the request, or of the next look: only a catch-up begun since then counts. */
    askedAt: z.int(),
    /** Full look-ups that found nothing. */
    misses: z.int(),
    /** `askedAt` of the first of them. */
    missedSince: z.int().optional(),
    /** The tracker said that the number that the event names is no lead. */
    isNoLead: z.boolean().optional(),
  }),
  z.strictObject({
    stage: z.literal('act'),
    /** Of a deletion. */
    actions: z.array(z.enum(deletionActions)).readonly(),
    /** Of an event that a rule is for. */
    effect: effectSchema.optional(),
    leads: z.array(leadSchema),
  }),
]);

/** Progress of one event, as it is stored between tries and across crashes. */
export type EventProgress = z.infer<typeof schema>;
export type MatchProgress = Extract<EventProgress, { stage: 'match' }>;
export type ActProgress = Extract<EventProgress, { stage: 'act' }>;
export type Effect = z.infer<typeof effectSchema>;
export type FieldSetting = NonNullable<Effect['setFields']>[number];
/** Work to be done on each lead. */
export type Todo = Pick<ActProgress, 'actions' | 'effect'>;
export type LeadProgress = z.infer<typeof leadSchema>;

/** Undefined for nothing, and for what another version left behind: then the event starts anew. */
export function readProgress(json: string | undefined): EventProgress | undefined {
  if (json === undefined) return undefined;
  return schema.safeParse(JSON.parse(json)).data;
}

/** An event's way: first it is matched with leads, which a deletion claims, then the issues are changed. */
export type Stage = EventProgress['stage'];

/** One event that this worker may work on, until the lease ends. */
export type WorkItem<P extends EventProgress = EventProgress> = {
  /** `event.id`. */
  event: number;
  receiptId: string;
  partnerId: string;
  path: PartnerPath;
  /** In the delivery, from 0. */
  position: number;
  /** Receipt of the delivery; ms since the Unix epoch. */
  receivedAt: number;
  /** The span of the delivery that asked for it, where that was traced. */
  traceparent?: string;
  /** Latest creation of a lead that it can mean, by the tracker's clock; ms since the Unix epoch. */
  createdBefore: number;
  /** Since when it is due: for an event without progress, when it was asked for. */
  dueAt: number;
  /** Tries that have failed so far. */
  attempts: number;
  /** The event's bytes; undefined when they are gone or cannot be decrypted. */
  payload?: Buffer;
  progress?: P;
  /** Fencing token: every write names it, and changes nothing when another worker took over. */
  leaseToken: string;
};

/** Runs one step on an event in a span below the delivery that asked for it; `verb` is what it does. */
export function traceStep<T>(
  tracing: Tracing | undefined,
  verb: 'match' | 'act on',
  item: Pick<WorkItem, 'path' | 'receiptId' | 'traceparent'>,
  work: Parameters<typeof traced<T>>[2],
): Promise<T> {
  const options = {
    name: `${verb} ${isDeletion(item) ? 'deletion' : 'event'}`,
    kind: 'consumer',
    parent: item.traceparent,
    attributes: { 'trackport.receipt_id': item.receiptId },
  } as const;
  return traced(tracing, options, work);
}

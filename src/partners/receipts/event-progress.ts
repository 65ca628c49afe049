/** Progress of an event, as it is stored between the tries of its work and across crashes. */
import { z } from 'zod';
import { codesOf } from '#shared/outcomes/entry.ts';
import { eventReasons } from '#shared/outcomes/events.ts';
import { deletionActions } from '../partner.ts';
import { erasures, remainders } from './receipt.ts';

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

/**
 * An event's way: first it is matched with leads, which a deletion claims, then the issues are changed. The column of
 * that name is generated from the progress: who writes that moves the event.
 */
export type Stage = EventProgress['stage'];

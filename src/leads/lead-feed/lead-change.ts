import { DAY } from '#shared/clock.ts';
import { REPLICA_LAG_MAX_MS } from '../lead-tracker.ts';

/** A reader who stays away for longer cannot go on from its cursor, and follows the feed no more. */
export const FEED_READABLE_MS = 30 * DAY;

/**
 * Cursors hold within an era, which ends behind a restore and behind another repository. No issue has this number: its
 * change, of which nobody is told, is where the era begins.
 */
export const ERA = 0;

/** A lead that a reader was shown by a list. `labels` are folded. */
export type ReadLead = {
  number: number;
  updatedAt: number;
  labels: readonly string[];
  leadDigest: Buffer;
};

/**
 * The positions from which on the lead could be read by a label (0: it was learnt too late to say), and at which that
 * ended; null: it can be.
 */
export type Span = readonly [label: string, first: number, left: number | null];

/** The last change of a lead, and who could read it when. Positions grow with time: they are ms since the Unix epoch. */
export type LeadChange = {
  number: number;
  /** Time of its last change for anybody; a change that is committed later has a greater one. */
  position: number;
  /** The position of its last change for those who can read it: a label learnt late moves it for others alone. */
  changedAt: number;
  /** Approved, in this repository, and not claimed. */
  isVisible: boolean;
  /** By the tracker, in ms since the Unix epoch. */
  updatedAt: number;
  /** Folded. */
  labels: readonly string[];
  /** A keyed digest of what readers were told last; undefined where nobody knows. */
  leadDigest?: Buffer | undefined;
  /** The labels by which it could ever be read, and `''` for at all. */
  carried: readonly Span[];
};

/** A lead as it is now. */
export type LeadSnapshot = Pick<
  LeadChange,
  'number' | 'isVisible' | 'updatedAt' | 'labels' | 'leadDigest'
> & {
  /** Labels by which it could be read in any state that was seen; undefined where the tracker told nothing. */
  seen?: readonly string[];
};

/** By this every reader with a grant for all leads reads. */
const EVERYBODY = '';
/** A lead that has had so many labels of late gets no more of them into `carried`. */
const SPANS_MAX = 200;

/**
 * The row that a lead as it is now makes of what was told of it; undefined: that row is right as it is. Where nothing
 * is to be told the position stays.
 */
export function nextChange(
  known: LeadChange | undefined,
  given: LeadSnapshot,
  position: number,
): LeadChange | undefined {
  const isVisible = given.isVisible && !mayBeGone(known, given, position);
  const state = { ...given, ...newerThan(known, given), isVisible };
  return known ? changeAfter(known, state, position) : firstChange(state, position);
}

function firstChange(
  { seen = [], ...state }: LeadSnapshot,
  position: number,
): LeadChange | undefined {
  if (!state.isVisible && seen.length === 0) return undefined;
  const carried = carriedAfter([], { ...state, seen }, position);
  return { ...state, position, changedAt: position, carried };
}

function changeAfter(
  known: LeadChange,
  { seen = [], ...state }: LeadSnapshot,
  position: number,
): LeadChange | undefined {
  const leadDigest = state.leadDigest ?? (isSameState(known, state) ? known.leadDigest : undefined);
  const isOther = differs(known, state);
  if (isOther || hasMore(known, seen)) {
    const carried = carriedAfter(known.carried, { ...state, seen }, position);
    const changedAt = isOther ? position : known.changedAt;
    return { ...state, leadDigest, position, changedAt, carried };
  }
  return known.isVisible && !known.leadDigest && leadDigest ? { ...known, leadDigest } : undefined;
}

/** Readers were shown a newer state than what the directory has met: of the older one only its labels count. */
function newerThan(known: LeadChange | undefined, given: LeadSnapshot): Partial<LeadSnapshot> {
  const isNewer = known?.isVisible === true && given.isVisible && known.updatedAt > given.updatedAt;
  return isNewer
    ? { updatedAt: known.updatedAt, labels: known.labels, leadDigest: known.leadDigest }
    : {};
}

/** The row of a lead that a reader of the feed was told as it is, be that ahead of what was noted of it. */
export function toldChange(
  known: LeadChange | undefined,
  lead: ReadLead,
  position: number,
): LeadChange | undefined {
  return known?.isVisible ? nextChange(known, { ...lead, isVisible: true }, position) : undefined;
}

/**
 * The row of a lead that a list showed: whoever read it there has it, though the directory may not have met it so.
 * Undefined: that row is right as it is.
 */
export function shownChange(
  known: LeadChange | undefined,
  lead: ReadLead,
  position: number,
): LeadChange | undefined {
  const state = { ...lead, isVisible: true };
  // Newer than what is known: for others it is a change, and nobody meets it as one later.
  const isAhead = known?.isVisible === true && lead.updatedAt > known.updatedAt;
  if (!known || isAhead) return nextChange(known, state, position);
  const before = new Set(known.carried.map(([label]) => label));
  const more = [EVERYBODY, ...lead.labels].filter((label) => !before.has(label));
  const leadDigest = known.leadDigest ?? (isSameState(known, state) ? lead.leadDigest : undefined);
  if (more.length === 0 && leadDigest === known.leadDigest) return undefined;
  // Of a lead that went meanwhile whoever has it is to be told that it did.
  const [first, left] = known.isVisible ? [known.position, null] : [0, known.position];
  const carried = [...known.carried, ...more.map((label): Span => [label, first, left])];
  return { ...known, leadDigest, carried: carried.slice(0, SPANS_MAX) };
}

/**
 * A replica of the tracker goes on showing a lead that went a moment ago, with nothing that is newer; what went for
 * its labels comes back with others.
 */
function mayBeGone(
  known: LeadChange | undefined,
  { seen, updatedAt, labels }: LeadSnapshot,
  position: number,
): boolean {
  if (!known || known.isVisible || !seen) return false;
  const isRecent = position - known.position < REPLICA_LAG_MAX_MS;
  return isRecent && updatedAt <= known.position && isSameSet(known.labels, labels);
}

/** True when it was seen with a label by which nobody knew that it could be read. */
function hasMore({ carried }: LeadChange, seen: readonly string[]): boolean {
  const labels = new Set(carried.map(([label]) => label));
  return carried.length < SPANS_MAX && seen.some((label) => !labels.has(label));
}

function differs(known: LeadChange, state: LeadSnapshot): boolean {
  if (known.isVisible !== state.isVisible) return true;
  if (!state.isVisible) return false;
  const hasOtherDigest =
    known.leadDigest && state.leadDigest && !known.leadDigest.equals(state.leadDigest);
  return hasOtherDigest === true || !isSameState(known, state);
}

function isSameState(known: LeadSnapshot, state: LeadSnapshot): boolean {
  return known.updatedAt === state.updatedAt && isSameSet(known.labels, state.labels);
}

function isSameSet(some: readonly string[], others: readonly string[]): boolean {
  const known = new Set(some);
  return some.length === others.length && others.every((label) => known.has(label));
}

function carriedAfter(
  known: readonly Span[],
  { isVisible, labels, seen = [] }: LeadSnapshot,
  position: number,
): Span[] {
  const readable = new Set(isVisible ? [EVERYBODY, ...labels] : []);
  const spans = new Map(known.map((span) => [span[0], span]));
  for (const label of seen.length > 0 ? [EVERYBODY, ...seen] : [])
    if (!spans.has(label) && !readable.has(label)) spans.set(label, [label, 0, position]);
  for (const label of readable) spans.set(label, [label, spans.get(label)?.[1] ?? position, null]);
  return [...spans.values()]
    .map((span) => (readable.has(span[0]) ? span : endedAt(span, position)))
    .filter(([, , left]) => left === null || left > position - FEED_READABLE_MS)
    .slice(0, SPANS_MAX);
}

const endedAt = ([label, first, left]: Span, position: number): Span => [
  label,
  first,
  left ?? position,
];

/**
 * The position at which the lead changed last for readers whose grant asks for these labels (folded); `hasLeft`: they
 * cannot read it any more since then. Undefined: they never could, as far as is known.
 */
export function changeFor(
  change: LeadChange,
  labels: readonly string[],
): { at: number; hasLeft: boolean } | undefined {
  const span = readableSpan(change, labels);
  if (!span) return undefined;
  const hasLeft = span.leftAt < Infinity;
  return { at: hasLeft ? span.leftAt : change.changedAt, hasLeft };
}

/** The positions between which they could read it (0: nobody knows); `leftAt` is infinite while they can. */
export function readableSpan(
  { carried }: LeadChange,
  labels: readonly string[],
): { first: number; leftAt: number } | undefined {
  let first = 0;
  let leftAt = Infinity;
  let learntAt = 0;
  for (const wanted of [EVERYBODY, ...labels]) {
    const span = carried.find(([label]) => label === wanted);
    if (!span) return undefined;
    first = Math.max(first, span[1]);
    const left = span[2] ?? Infinity;
    leftAt = Math.min(leftAt, left);
    if (span[1] === 0 && left < Infinity) learntAt = Math.max(learntAt, left);
  }
  return first < leftAt ? { first, leftAt: Math.max(leftAt, learntAt) } : undefined;
}

import type { OutcomeEntry, Standing } from './entry.ts';

const outcomeTable = <Code extends string>(
  entries: Readonly<Record<Code, Omit<OutcomeEntry, 'next'>>>,
) => entries;

/** Ends of one event of a delivery. Everything but PENDING is settled; FAILED needs a person. */
export const eventOutcomes = outcomeTable({
  PENDING: {
    urgency: 'wait',
    title: 'Pending',
    meaning: 'It is on disk, and is worked on or waits for its next attempt. Nobody has to act.',
  },
  DONE: {
    urgency: 'ok',
    title: 'Done',
    meaning: 'All that was to be done is done, or was so already.',
  },
  UNMATCHED: {
    urgency: 'warn',
    title: 'Unmatched',
    meaning: 'No lead is known by what it names.',
  },
  IGNORED: {
    urgency: 'mute',
    title: 'Ignored',
    meaning: 'No rule is for its type, or a deletion has taken its lead.',
  },
  REJECTED: {
    urgency: 'odd',
    title: 'Rejected',
    meaning:
      'It cannot be used: it names nobody, or is no object. Its partner has to send it anew.',
  },
  FAILED: {
    urgency: 'bad',
    title: 'Failed',
    meaning: 'Trying again is of no use before somebody acts: a dead letter.',
  },
});

/** Outcomes that need a person: what is said behind how many there are, and what to do with them. */
export const outcomeNeeds = {
  FAILED: { one: 'needs a person', many: 'need a person', title: 'Dead letter' },
  UNMATCHED: {
    one: 'found nobody',
    many: 'found nobody',
    next: 'Replay when the lead turns up, or acknowledge it',
  },
  REJECTED: {
    one: 'could not be used',
    many: 'could not be used',
    next: 'Tell the partner: an event has to say whom it means. Nobody was deleted by these. Then acknowledge them.',
  },
} as const;

/** A receipt as a whole, in the words of the event that decides. */
export const receiptStates = {
  ACCEPTED: { ...eventOutcomes.PENDING, by: 'PENDING', meaning: 'Some event of it is pending.' },
  PROCESSED: { ...eventOutcomes.DONE, by: 'DONE', meaning: 'Every event is done or ignored.' },
  UNMATCHED: {
    ...eventOutcomes.UNMATCHED,
    by: 'UNMATCHED',
    meaning: 'None failed, but one found nobody or was rejected.',
  },
  FAILED: { ...eventOutcomes.FAILED, by: 'FAILED', meaning: 'At least one event failed.' },
} as const;

const erasureTable = <Code extends string>(entries: Readonly<Record<Code, Standing>>) => entries;

/** Completeness of an erasure, from the best to the worst. */
export const erasureStates = erasureTable({
  complete: { urgency: 'ok', title: 'Complete' },
  'incomplete-history': { urgency: 'warn', title: 'Incomplete: history' },
  impossible: { urgency: 'bad', title: 'Deleting was not allowed' },
});

/** Reasons why no erasure is told of leads that were matched. */
export const erasureGaps = erasureTable({
  fields: { urgency: 'bad', title: 'Typed fields remain' },
  none: { urgency: 'mute', title: 'Not erased, as configured' },
  open: { urgency: 'wait', title: 'Not yet' },
});

const noteTable = <Code extends string>(
  entries: Readonly<Record<Code, Omit<OutcomeEntry, 'urgency'>>>,
) => entries;

/** Besides its outcome; the last one counts. `meaning` stands within sentences. */
export const eventNotes = noteTable({
  'event-id-reused': {
    title: 'Its id came before with another person',
    meaning: 'the event’s id came before with another person',
    next: 'It was taken as an event of its own. Tell the partner.',
  },
  'lead-id-conflict': {
    title: 'The lead that it names belongs to somebody else',
    meaning:
      'the lead that it names belongs to another person, or got its number after the event came, and was left alone',
    next: 'Or got its number after the event came. It was left alone: the person decides.',
  },
  'claim-released': {
    title: 'An operator gave a lead back',
    meaning: 'an operator gave a lead back',
    next: 'Readers see it again once it is approved and does not carry the deleted label; this event leaves it alone.',
  },
  merged: {
    title: 'The partner made one person of several',
    meaning: 'whoever is known by one of the merged ids is known by the new one, too',
    next: 'Whoever is known by an old id is found by the new one, too. No issue was changed.',
  },
});

/** Events that a replay leaves as they are, behind how many there are. */
export const notReplayed = {
  pending: 'under way already',
  done: 'done',
  ignored: 'ignored',
  rejected: 'rejected',
  payloadDropped:
    'past replay: the content was dropped after 30 days, so the partner has to send again',
} as const;

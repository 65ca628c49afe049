/** Events and receipts: how they end, how complete an erasure is, and for which reasons. */
import type { OutcomeEntry, Standing } from './entry.ts';
import { type TrackerCause, trackerCauses } from './tracker-causes.ts';

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

type Reason = Pick<OutcomeEntry, 'meaning' | 'next'>;

const LOOK_FIRST = 'Look at the issue, then replay';
const ASK_WHICH = 'Ask the partner which lead it means';
const ONCE_WELL = 'Replay once the tracker is well';

const onceWell = (cause: TrackerCause): Reason => ({
  meaning: trackerCauses[cause].meaning,
  next: ONCE_WELL,
});

const onceMended = (cause: TrackerCause): Reason => ({
  meaning: trackerCauses[cause].meaning,
  next: `${trackerCauses[cause].next}, then replay`,
});

const reasonTable = <Code extends string>(entries: Readonly<Record<Code, Reason>>) => entries;

/**
 * Reasons why an event ended as it did, or its last attempt failed, by the code that its receipt shows. More may come:
 * whoever reads them must take one that it does not know. Texts stand within sentences and as headings: without a
 * capital and a full stop, and without a full stop.
 */
export const eventReasons = reasonTable({
  'not-an-object': {
    meaning: 'the element of the batch is no JSON object',
    next: 'Nothing here: the partner has to send it well',
  },
  'names-nobody': {
    meaning: 'the event names nobody, or the merge no ids',
    next: 'Nothing here: the partner has to say whom it means',
  },
  'too-many-ids': {
    meaning: 'the merge names more than 250 ids',
    next: 'Nothing here: the partner has to merge in steps',
  },
  'claim-released': {
    meaning: 'an operator gave the lead back',
    next: 'Nothing, unless the release was wrong: then replay',
  },
  'no-rule': {
    meaning: 'no rule of the configuration is for its type',
    next: 'Nothing, unless a rule is missing: then have it sent again',
  },
  'type-not-listed': {
    meaning: 'its type is none of those that delete',
    next: 'Nothing, unless the type is to delete: add it to deletions.types, and have it sent again',
  },
  'lead-claimed': {
    meaning: 'a deletion has claimed the lead that the event names',
    next: 'Nothing: a deleted lead is left alone',
  },
  'partner-unknown': {
    meaning: 'the configuration of the instance that works lacks the partner',
    next: 'Put the partner into the file (enabled: false is enough) and send SIGHUP',
  },
  'payload-unreadable': {
    meaning: 'the event cannot be read any more: another `secretKey`, or other `fields`',
    next: 'Put the old secretKey back and replay, or have it sent again',
  },
  'repository-changed': {
    meaning: 'it holds leads of another repository than the configured one',
    next: 'Name the old repository again and replay, or act there by hand',
  },
  transferred: {
    meaning: 'the issue was moved to another repository',
    next: 'Act in the repository where the issue is now',
  },
  'pull-request': { meaning: 'the number is that of a pull request', next: ASK_WHICH },
  'no-issue': { meaning: 'the tracker has no issue with the number', next: ASK_WHICH },
  locked: { meaning: 'the issue takes no comments', next: 'Unlock the issue, then replay' },
  'too-many-comments': {
    meaning: 'the issue has too many comments to look for ours',
    next: 'Act on the issue by hand',
  },
  refused: {
    meaning: 'the tracker understood the write and refused it (422)',
    next: 'See that labels exist (doctor --fix) and logins can be assigned, then replay',
  },
  forbidden: onceMended('forbidden'),
  unauthorized: onceMended('unauthorized'),
  'version-retired': onceMended('version-retired'),
  'repository-missing': onceMended('repository-missing'),
  'issues-disabled': onceMended('issues-disabled'),
  'not-found': {
    meaning: 'the issue is not found by its number, or was not just now',
    next: LOOK_FIRST,
  },
  'not-applied': { meaning: 'the issue does not show what was written', next: LOOK_FIRST },
  'labels-dropped': {
    meaning: 'the tracker dropped the labels in silence',
    next: onceMended('forbidden').next,
  },
  'fields-refused': {
    meaning: 'the credential may not set or clear typed fields, perhaps for a while only',
    next: 'Give the credential the right to push, which typed fields ask for, then replay',
  },
  'fields-remain': {
    meaning: 'typed fields still hold what they held: the credential may not clear them',
    next: 'Clear the fields by hand',
  },
  'field-unknown': {
    meaning:
      'the tracker has no typed field that the rule names, or does not show it to the credential',
    next: 'See what doctor says of leads.issueFields and of the credential, then replay',
  },
  'delete-refused': {
    meaning: 'the issue may not be deleted, perhaps for a while only',
    next: 'Check that tracker.adminToken may delete issues, then replay',
  },
  'not-deleted': {
    meaning: 'the issue is still there after it was deleted',
    next: LOOK_FIRST,
  },
  'tracker-limited': onceWell('limited'),
  'tracker-timeout': onceWell('timeout'),
  'tracker-network': onceWell('network'),
  'tracker-server': onceWell('server'),
  'tracker-nonsense': onceWell('nonsense'),
  'tracker-invalid': onceWell('invalid'),
  'internal-error': {
    meaning: 'a mistake of ours; the log has it',
    next: 'Report it; replay with a version that mends it',
  },
});

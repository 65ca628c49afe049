import type { OutcomeEntry, Standing } from './entry.ts';

type PartStanding = Standing & {
  /** As it should be, though it is not `ok`. */
  isSettled?: true;
};

const standings = <Code extends string>(entries: Readonly<Record<Code, PartStanding>>) => entries;

/** States of a part of the service, as `/readyz` names them. */
export const partStates = standings({
  ok: { urgency: 'ok', title: 'Ok' },
  complete: { urgency: 'ok', title: 'Complete' },
  standby: { urgency: 'mute', title: 'Stands by', isSettled: true },
  unknown: { urgency: 'mute', title: 'Not known yet' },
  starting: { urgency: 'wait', title: 'Starting' },
  crawling: { urgency: 'wait', title: 'Being filled' },
  behind: { urgency: 'warn', title: 'Not kept up' },
  paused: { urgency: 'bad', title: 'Paused' },
  lacking: { urgency: 'bad', title: 'Lacks a partner' },
  failing: { urgency: 'bad', title: 'Failing' },
  exhausted: { urgency: 'warn', title: 'Quota used up' },
  unavailable: { urgency: 'bad', title: 'Unavailable' },
  stopped: { urgency: 'bad', title: 'Stopped' },
});

export type PartState = keyof typeof partStates;

/** A part that is not well: `title` as a sentence, `meaning` what goes on meanwhile. */
export type Amiss = Pick<OutcomeEntry, 'title'> & Partial<Pick<OutcomeEntry, 'meaning' | 'next'>>;

/** By part and state. */
export const partsAmiss: Readonly<Record<string, Amiss>> = {
  'tracker failing': {
    title: 'The tracker does not respond as it should',
    meaning:
      'Leads come from the cache meanwhile, for leads.staleIfError at most (503 for what it does not hold); deletions and events are accepted, hide what they name, and wait: nothing is lost.',
  },
  'tracker exhausted': {
    title: 'The tracker’s quota is used up',
    meaning: 'Leads come from the cache until then (503 for what it does not hold).',
  },
  'store unavailable': {
    title: 'The store cannot be used',
    meaning:
      'Deliveries get 503 meanwhile, for partners to send again; nothing that was accepted is lost.',
    next: 'Look at its disk or database; it goes on by itself once that is well.',
  },
  'worker paused': {
    title: 'The tracker does not let deletions be worked on',
    meaning:
      'Deletions are accepted, what they name stays hidden, nothing is lost, and work goes on by itself once it may.',
  },
  'worker lacking': {
    title: 'Deletions wait for a partner that the configuration lacks',
    meaning:
      'Nothing is lost: put the partner into the file (enabled: false is enough) and send SIGHUP, then they are worked on.',
  },
  'worker failing': {
    title: 'Deletions are not worked on',
    meaning: 'Nothing is lost: once the store works, work goes on.',
  },
  'worker stopped': { title: 'Deletions are not worked on' },
  'directory behind': {
    title: 'The lead directory is not kept up',
    meaning:
      'What it knows is still matched and hidden at once; changes since then are read once the tracker responds.',
  },
  'issuer failing': {
    title: 'The issuer does not respond',
    meaning:
      'Who is signed in stays so, and tokens signed with known keys still pass. See whether this machine reaches it.',
  },
};

/** States of the tracker's webhook: in a word, and as a sentence where it is not well. */
export const webhookStates = {
  ok: partStates.ok,
  unknown: { urgency: 'mute', title: 'Not known now' },
  quiet: {
    urgency: 'warn',
    title: 'Quiet',
    heading: 'The tracker’s webhook has not come for a week',
  },
  refused: {
    urgency: 'warn',
    title: 'Refused',
    heading: 'The tracker’s webhook is refused',
    setUp: {
      step: 'Set it right',
      heading: 'The webhook is refused',
      text: 'Until one is accepted, changed leads are seen later. In the tracker’s settings, under webhooks, compare, then redeliver:',
    },
  },
  never: {
    urgency: 'warn',
    title: 'Never came',
    heading: 'The tracker’s webhook has never come',
    setUp: {
      step: 'Set it up',
      heading: 'The webhook has never come',
      text: 'Without it changed leads are seen later. In the tracker’s settings, under webhooks, add:',
    },
  },
} as const;

import type { OutcomeEntry, Standing } from './entry.ts';

/** State of a caller, by its last calls and its secrets. */
export type CallerState = Standing & Partial<Pick<OutcomeEntry, 'next'>>;

/** The gravest thing about a partner. */
export const partnerStates = {
  disabled: { urgency: 'mute', title: 'Disabled' },
  'without-secret': {
    urgency: 'bad',
    title: 'No active secret',
    next: 'Add a secret below this partner in the configuration: until then all its calls are refused.',
  },
  'without-active-secret': {
    urgency: 'bad',
    title: 'No active secret',
    next: 'None of its secrets is active now, so all its calls are refused. Check notBefore and notAfter.',
  },
  'last-refused': { urgency: 'bad', title: 'Last call refused', next: 'Talk to its sender' },
  'fallen-silent': {
    urgency: 'warn',
    title: 'Silent',
    next: 'See at the partner whether its webhook is on, and what it says of its last calls; then bring in what was missed with trackport receipt import.',
  },
  'secret-ending': {
    urgency: 'warn',
    title: 'Secret ends soon',
    next: 'Every secret that works ends within 14 days. Agree on a new one and add it beside the old.',
  },
  silent: { urgency: 'wait', title: 'Nothing in 7 days' },
  'some-refused': { urgency: 'warn', title: 'Some refused' },
  receiving: { urgency: 'ok', title: 'Receiving' },
} as const satisfies Readonly<Record<string, CallerState>>;

/** A secret of a partner. */
export const secretStates = {
  expired: { urgency: 'mute', title: 'Ended' },
  'not-yet-active': { urgency: 'wait', title: 'Not active yet' },
  ending: { urgency: 'warn', title: 'Ends soon' },
  active: { urgency: 'ok', title: 'Active' },
} as const satisfies Readonly<Record<string, CallerState>>;

/** Callers that need a person: in a word of one of them, and as a heading of one and of many. */
export const callerNeeds = {
  'partner-refused': {
    urgency: 'bad',
    headings: ['A partner is refused', 'partners are refused'],
  },
  'partner-silent': {
    urgency: 'warn',
    headings: ['A partner has fallen silent', 'partners have fallen silent'],
  },
  'key-ending': {
    urgency: 'warn',
    title: 'Key ends',
    headings: ['A key in use ends soon', 'keys in use end soon'],
    next: 'Rotate it: the old one goes on for the overlap.',
    nextIfReplaced: 'It was replaced, and is still in use: bring the new one to its consumer.',
  },
  'without-key': {
    urgency: 'warn',
    title: 'No key',
    headings: ['A consumer has no key', 'consumers have no key'],
    next: 'Add a key, or revoke the consumer: nobody can read as it.',
  },
} as const;

import type { OutcomeEntry } from './entry.ts';

type Cause = Pick<OutcomeEntry, 'meaning' | 'next'> & {
  /** Behind the next step: where to look, and what happens by itself. */
  hint?: string;
};

const ASKED_AGAIN = 'the service asks again every half minute';
const REACH = {
  next: 'See that this machine reaches it',
  hint: `the network, tracker.apiUrl, DNS, proxy, firewall, or a longer tracker.requestTimeout; ${ASKED_AGAIN}`,
};
const STATUS_PAGE = { next: 'See its status page', hint: ASKED_AGAIN };
const NO_REPOSITORY = {
  meaning: 'the repository cannot be seen',
  next: 'Check tracker.repository and what the credential can see',
  hint: 'a renamed repository needs its new name, and that a restart',
};

const table = <Code extends string>(entries: Readonly<Record<Code, Cause>>) => entries;

/** Causes for which a request to the tracker comes to nothing. Texts stand within sentences: without a capital and a full stop. */
export const trackerCauses = table({
  unauthorized: {
    meaning: 'the tracker refuses the credential (401)',
    next: 'Replace tracker.auth and send SIGHUP',
    hint: 'a token may have ended, an App must be installed on this repository; it is tried at once',
  },
  forbidden: {
    meaning: 'the tracker does not allow it (403)',
    next: 'Give the credential the right to read and write issues',
    hint: 'an organisation may have to approve it, and an archived repository is to be opened again',
  },
  'repository-missing': NO_REPOSITORY,
  missing: NO_REPOSITORY,
  moved: NO_REPOSITORY,
  'issues-disabled': {
    meaning: 'issues are switched off',
    next: 'Switch issues on in the settings of the repository',
  },
  'version-retired': {
    meaning: 'the tracker does not take our version of its API any more (410)',
    next: 'Update Trackport',
  },
  limited: {
    meaning: 'a rate limit of the tracker is in force',
    next: 'Wait',
    hint: 'it is asked again when the limit is over; find out what else uses this credential',
  },
  timeout: { meaning: 'the tracker did not respond in time', ...REACH },
  network: { meaning: 'the tracker cannot be reached', ...REACH },
  server: { meaning: 'the tracker failed (5xx)', ...STATUS_PAGE },
  invalid: { meaning: 'the tracker refused the request (another 4xx)', ...STATUS_PAGE },
  nonsense: {
    meaning: 'the tracker’s response cannot be understood',
    next: 'Check tracker.apiUrl',
    hint: `https://api.github.com, or https://HOST/api/v3; ${ASKED_AGAIN}`,
  },
  'numbered-pages': {
    meaning: 'the tracker pages its lists by number alone: Link has page=2, and no cursor (after=)',
    next: 'Use a tracker that sends cursors, as github.com does',
    hint: 'numbers shift while a list is read, so leads would be missed; docs/how-to/github.md says what was tried',
  },
});

export type TrackerCause = keyof typeof trackerCauses;

/** Next step and hint of a cause, as one sentence. */
export const trackerStep = ({ next, hint }: Cause): string =>
  hint === undefined ? `${next}.` : `${next}: ${hint}.`;

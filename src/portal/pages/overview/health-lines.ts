import type { CheckResult } from '#http/routes/operations/readiness.ts';

import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import type { State } from '../../shell/parts.ts';
import { time } from '../../shell/times.ts';
import type { Reader } from '../../shell/times.ts';

/** How one part of the service is, as the page shows it. */
export type HealthLine = {
  /** As `/readyz` names it. */
  name: string;
  label: string;
  state: State;
  word: string;
  text?: Html;
};

const LABELS: Readonly<Record<string, string>> = {
  tracker: 'Tracker',
  store: 'Store',
  worker: 'Worker',
  directory: 'Directory',
  issuer: 'Issuer',
  processes: 'Processes',
};

/** Of a worker that another instance works for. */
export const STANDBY_WORD = 'Stands by';

type Look = { state: State; word: string };

const LOOKS: Readonly<Record<string, Look>> = {
  ok: { state: 'ok', word: 'Ok' },
  complete: { state: 'ok', word: 'Complete' },
  standby: { state: 'mute', word: STANDBY_WORD },
  unknown: { state: 'mute', word: 'Not known yet' },
  starting: { state: 'wait', word: 'Starting' },
  crawling: { state: 'wait', word: 'Being filled' },
  incomplete: { state: 'wait', word: 'Incomplete' },
  paused: { state: 'bad', word: 'Paused' },
  lacking: { state: 'bad', word: 'Lacks a partner' },
  failing: { state: 'bad', word: 'Failing' },
  exhausted: { state: 'warn', word: 'Quota used up' },
  unavailable: { state: 'bad', word: 'Unavailable' },
  stopped: { state: 'bad', word: 'Stopped' },
};

/** What to do, or to know, where a part is not well. */
const REMEDIES: Readonly<Record<string, string>> = {
  'tracker failing': 'Leads come from the cache meanwhile; trackport doctor says what to mend.',
  'tracker exhausted': 'Leads come from the cache until then.',
  'store unavailable': 'Look at the disk or the database: nothing is accepted meanwhile.',
  'worker paused': 'Nothing is lost: give the credential the right to write, then work goes on.',
  'worker lacking':
    'Nothing is lost: put the partner into the file (enabled: false is enough) and send SIGHUP, then they are worked on.',
  'worker failing': 'Nothing is lost: once the store works, work goes on.',
  'issuer failing':
    'Who is signed in stays so, and tokens signed with known keys still pass. See whether this machine reaches it.',
};

/** What `/readyz` says, with times in the reader's zone. Most of the service needs no issuer. */
export function toHealthLine(name: string, result: CheckResult, reader: Reader): HealthLine {
  const look = LOOKS[result.state] ?? { state: 'mute', word: result.state };
  const state = stateOf(name, result, look);
  const { detail } = result;
  const label = LABELS[name] ?? name;
  const remedy = REMEDIES[`${name} ${result.state}`];
  return {
    name,
    label,
    word: look.word,
    state,
    ...((detail ?? remedy) !== undefined && {
      text: html`${withTimes(detail ?? '', reader)} ${remedy}`,
    }),
  };
}

function stateOf(name: string, { isReady }: CheckResult, look: Look): State {
  if (!isReady) return 'bad';
  return name === 'issuer' && look.state === 'bad' ? 'warn' : look.state;
}

const INSTANT = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** Each instant in a text of ours as a time that has its UTC in the title. */
function withTimes(text: string, reader: Reader): Html {
  const pieces = text.split(INSTANT);
  return html`${pieces.map((piece) => (INSTANT.test(piece) ? time(Date.parse(piece), reader, 'minute') : piece))}`;
}

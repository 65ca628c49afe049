import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { badge, code, foreign, link, note } from '../../shell/parts.ts';
import { table } from '../../shell/table.ts';
import type { Column } from '../../shell/table.ts';
import { count, time } from '../../shell/times.ts';
import type { Reader } from '../../shell/times.ts';
import { receiptPath } from '../receipts/query.ts';
import { weekOf } from './concerns.ts';

/** An event that ended FAILED. */
export type DeadLetter = {
  receiptId: string;
  partnerId: string;
  /** When it was settled. */
  atMs: number;
  /** One of `eventErrors`. */
  error: string;
  /** Numbers of its issues. */
  leadIds: readonly string[];
};

/** The newest of those that matched nobody. */
export type Unmatched = { total: number; partnerId: string; atMs: number };

const ASK_TRACKER = 'Give the credential the right to write issues and labels, then replay.';
const LATER = 'Wait until the tracker is well, then replay.';
const LOOK = 'Look at the receipt, mend the issue by hand, then replay.';

const STEPS: Readonly<Record<string, string>> = {
  locked: 'Unlock the issue, then replay.',
  forbidden: ASK_TRACKER,
  unauthorized: 'Renew the credential of the tracker, then replay.',
  'labels-dropped': ASK_TRACKER,
  'repository-missing': 'Check the repository’s name and the credential, then replay.',
  'issues-disabled': 'Switch issues on in the repository, then replay.',
  'payload-unreadable':
    'Have the partner send the deletion again: its bytes cannot be read any more.',
  'partner-unknown': 'Put the partner back into the configuration, then replay.',
  'delete-refused': 'Check that tracker.adminToken may delete issues, then replay.',
  transferred: 'The issue moved to another repository: erase it there.',
  'too-many-comments': 'Comment on the issue by hand: it has too many comments to look for ours.',
  'tracker-limited': LATER,
  'tracker-timeout': LATER,
  'tracker-network': LATER,
  'tracker-server': LATER,
  server: LATER,
  'internal-error': 'Report it with the log of that time, then replay.',
};

/** What a person does about a dead letter. */
export function nextStepFor(error: string): string {
  return Object.hasOwn(STEPS, error) ? (STEPS[error] ?? LOOK) : LOOK;
}

type Step = { what: Html; since: Html; next: Html | string; act: Html };

/** What needs a person, the gravest first; undefined when nothing does. */
export function nextSteps(
  deadLetters: readonly DeadLetter[],
  unmatched: Unmatched | undefined,
  reader: Reader,
): Html | undefined {
  const rows = [
    ...deadLetters.map((letter) => deadLetterStep(letter, reader)),
    ...(unmatched ? [unmatchedStep(unmatched, reader)] : []),
  ];
  if (rows.length === 0) return undefined;
  const columns: Column<Step>[] = [
    { label: 'What', cell: ({ what }) => what },
    { label: 'Since', cell: ({ since }) => since, kind: 'whole' },
    { label: 'Next step', cell: ({ next }) => next },
    { label: 'Actions', cell: ({ act }) => act, kind: 'acts' },
  ];
  return table({ caption: 'What needs a person, most urgent first', columns, rows });
}

function deadLetterStep(letter: DeadLetter, reader: Reader): Step {
  const { receiptId, partnerId, atMs, error, leadIds } = letter;
  const issues = leadIds.slice(0, 3).map((id) => `#${id}`);
  const about = issues.length > 0 && html`Issue ${issues.join(', ')}: `;
  return {
    what: html`${badge('bad', 'Dead letter')}${note(foreign(partnerId, 60), ', ', code(error))}`,
    since: time(atMs, reader, 'minute'),
    next: html`${about}${nextStepFor(error)}`,
    act: link({
      href: receiptPath(receiptId),
      text: 'Open receipt',
      more: receiptId.slice(0, 8),
    }),
  };
}

function unmatchedStep({ total, partnerId, atMs }: Unmatched, reader: Reader): Step {
  const words = total === 1 ? 'See it' : `See all ${count(total)}`;
  return {
    what: html`${badge('warn', `${count(total)} unmatched`)}${note('last of ', foreign(partnerId, 60))}`,
    since: time(atMs, reader, 'minute'),
    next: html`Check that its ids stand in the leads’ metadata, as
      <code>externalIds.<wbr />${foreign(partnerId, 60)}</code>; replay when the lead turns up.`,
    act: link({ href: weekOf('UNMATCHED', reader.nowMs), text: words, more: 'unmatched receipts' }),
  };
}

import { html, type Html } from '../../html.ts';
import { badge, code, foreign, link, note } from '../../shell/parts.ts';
import { type Column, table } from '../../shell/table.ts';
import { count, type Reader, time } from '../../shell/times.ts';
import { receiptPath } from '../receipts/query.ts';
import { adviceFor, remedyOf } from '../receipts/remedies.ts';
import { type DeadLetter, type Newest, type Operation, weekOf, type Worry } from './concerns.ts';

type Step = { what: Html; since: Html | undefined; next: Html | string; act: Html };

/** What needs a person, the gravest first; undefined when nothing does. */
export function nextSteps(operation: Operation, reader: Reader): Html | undefined {
  const { deadLetters, lastUnmatched, lastRejected, worries } = operation;
  const stepsIn = (state: Worry['state']): Step[] =>
    worries.filter((worry) => worry.state === state).flatMap(worrySteps);
  const rows = [
    ...deadLetters.map((letter) => deadLetterStep(letter, reader)),
    ...stepsIn('bad'),
    ...(lastUnmatched ? [unmatchedStep(lastUnmatched, reader)] : []),
    ...(lastRejected ? [rejectedStep(lastRejected, reader)] : []),
    ...stepsIn('warn'),
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
    next: html`${about}${remedyOf(error).step}.`,
    act: link({
      href: receiptPath(receiptId),
      text: 'Open receipt',
      more: receiptId.slice(-8),
    }),
  };
}

const AFFECTED_SHOWN = 5;

function worrySteps({ state, of }: Worry): Step[] {
  return of.slice(0, AFFECTED_SHOWN).map(({ badge: words, name, when, next, href }) => ({
    what: html`${badge(state, words)}${note(name)}`,
    since: when,
    next,
    act: link({ href, text: 'Open', more: words }),
  }));
}

function unmatchedStep({ total, partnerId, atMs, event }: Newest, reader: Reader): Step {
  return {
    what: html`${badge('warn', `${count(total)} unmatched`)}${note('last of ', foreign(partnerId, 60))}`,
    since: time(atMs, reader, 'minute'),
    next: html`${adviceFor(event, partnerId)} Replay when the lead turns up, or acknowledge it.`,
    act: link({
      href: weekOf('UNMATCHED', reader.nowMs),
      text: seeWords(total),
      more: 'unmatched receipts',
    }),
  };
}

function rejectedStep({ total, partnerId, atMs }: Newest, reader: Reader): Step {
  return {
    what: html`${badge('odd', `${count(total)} rejected`)}${note('last of ', foreign(partnerId, 60))}`,
    since: time(atMs, reader, 'minute'),
    next: 'Tell the partner: an event has to say whom it means. Nobody was deleted by these. Then acknowledge them.',
    act: link({
      href: weekOf('REJECTED', reader.nowMs),
      text: seeWords(total),
      more: 'rejected receipts',
    }),
  };
}

const seeWords = (total: number): string => (total === 1 ? 'See it' : `See all ${count(total)}`);

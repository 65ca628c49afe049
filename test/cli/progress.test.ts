import { expect, test } from 'vitest';
import { createProgress } from '#cli/progress.ts';
import { createFakeClock } from '../support/clock.ts';

function open({ isInteractive = false, isJson = false } = {}) {
  const clock = createFakeClock();
  const notes: string[] = [];
  const note = (text: string): void => void notes.push(text);
  return {
    clock,
    notes,
    show: createProgress({ terminal: { note, isInteractive }, clock, isJson }),
  };
}

test('a terminal sees a bar, the counts, the rate and what remains, written over the last line', async () => {
  const { clock, notes, show } = open({ isInteractive: true });
  show(0, 400, 'pages');
  await clock.advance(2000);
  show(100, 400, 'pages', 'receipts');
  show(101, 400, 'pages', 'too soon after the last');
  show(400, 400, 'pages');
  expect(notes).toEqual([
    '░░░░░░░░░░░░░░░░░░░░░░░░ 0/400 pages',
    '\u001b[1A\u001b[2K██████░░░░░░░░░░░░░░░░░░ 100/400 pages, 50/s, 6 s left  receipts',
    '\u001b[1A\u001b[2K████████████████████████ 400/400 pages, 200/s',
  ]);
});

test('another part of the work has a line and a rate of its own', async () => {
  const { clock, notes, show } = open({ isInteractive: true });
  show(0, 2, 'pages');
  await clock.advance(1000);
  show(2, 2, 'pages');
  show(0, 40, 'rows');
  await clock.advance(2000);
  show(20, 40, 'rows');
  expect(notes.slice(2)).toEqual([
    '░░░░░░░░░░░░░░░░░░░░░░░░ 0/40 rows',
    '\u001b[1A\u001b[2K████████████░░░░░░░░░░░░ 20/40 rows, 10/s, 2 s left',
  ]);
});

test('a line of a terminal never wraps, and shows the end of what is at hand', () => {
  const { notes, show } = open({ isInteractive: true });
  show(1, 3, 'files', `${'deep/'.repeat(40)}orders.yaml`);
  expect(notes[0]).toHaveLength(79);
  expect(notes[0]).toMatch(/orders\.yaml$/);
});

test('elsewhere there is a plain line every five seconds, and none for short work', async () => {
  const { clock, notes, show } = open();
  show(0, 1000, 'rows');
  await clock.advance(4999);
  show(100, 1000, 'rows');
  expect(notes).toEqual([]);
  await clock.advance(1);
  show(100, 1000, 'rows', 'receipts');
  show(101, 1000, 'rows');
  await clock.advance(5000);
  show(150, 1000, 'rows');
  show(1000, 1000, 'rows');
  expect(notes).toEqual([
    '100/1000 rows, 20/s, 45 s left: receipts',
    '150/1000 rows, 15/s, 57 s left',
    '1000/1000 rows, 100/s',
  ]);
});

test('without a total there are the count and the rate', async () => {
  const { clock, notes, show } = open({ isInteractive: true });
  show(0, 0, 'issues');
  await clock.advance(4000);
  show(10, 0, 'issues');
  expect(notes).toEqual(['0 issues', '\u001b[1A\u001b[2K10 issues, 2.5/s']);
});

test('beside a JSON document there is nothing, and control characters never', () => {
  const json = open({ isInteractive: true, isJson: true });
  json.show(1, 2, 'files');
  expect(json.notes).toEqual([]);
  const { notes, show } = open({ isInteractive: true });
  show(1, 2, 'files', 'a\u001bb');
  expect(notes[0]).not.toContain('\u001b');
});

test('of slow steps only what remains is shown, and no rate of nothing', async () => {
  const { clock, notes, show } = open({ isInteractive: true });
  show(0, 4, 'groups');
  await clock.advance(60_000);
  show(1, 4, 'groups', 'leads');
  expect(notes.at(-1)).toMatch(/ 1\/4 groups, 3 min left {2}leads$/);
});

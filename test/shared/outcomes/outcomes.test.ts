import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  callerNeeds,
  partnerStates,
  secretStates,
  partnerRefusals,
  webhookRefusals,
} from '#shared/outcomes/callers.ts';
import { codesOf } from '#shared/outcomes/entry.ts';
import {
  eventReasons,
  erasureGaps,
  erasureStates,
  eventNotes,
  eventOutcomes,
  notReplayed,
  outcomeNeeds,
  receiptStates,
} from '#shared/outcomes/events.ts';
import { partsAmiss, partStates, webhookStates } from '#shared/outcomes/health.ts';
import { problems } from '#shared/outcomes/problems.ts';
import { trackerCauses } from '#shared/outcomes/tracker-causes.ts';

const tables = {
  problems,
  eventOutcomes,
  outcomeNeeds,
  receiptStates,
  eventReasons,
  eventNotes,
  erasureStates,
  erasureGaps,
  notReplayed,
  partStates,
  webhookStates,
  partnerStates,
  secretStates,
  callerNeeds,
  partnerRefusals,
  webhookRefusals,
  trackerCauses,
};

const root = new URL('../../../', import.meta.url).pathname;

/** All of the program but the tables themselves: a code that stands nowhere there ends nothing. */
const program = globSync('src/**/*.ts', { cwd: root })
  .filter((path) => !path.startsWith('src/shared/outcomes/'))
  .map((path) => readFileSync(root + path, 'utf8'))
  .join('\n');

function isRaised(code: string): boolean {
  if (!/^\w+$/.test(code)) return program.includes(`'${code}'`);
  return new RegExp(`['.]${code}\\b|\\b${code}: `).test(program);
}

// An entry for every code that is raised is held by its type: `ErrorCode`, `PartState` and the like are keys of these.
test.each(Object.entries(tables))('every code of %s can come up', (_name, table) => {
  expect(Object.keys(table).filter((code) => !isRaised(code))).toEqual([]);
});

test.each(codesOf(partsAmiss))('%s is a part in a state that it can have', (partAndState) => {
  const [part = '', state = ''] = partAndState.split(' ');
  expect(program).toContain(`${part}: ${part}Check(`);
  expect(codesOf(partStates)).toContain(state);
});

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

test('the words of every entry are there, and plain text', () => {
  for (const text of textsIn([tables, partsAmiss])) expect(text).toMatch(/^[^\s<>][^<>]*[^\s<>]$/);
});

test('what the tracker fails for is said of an event in the same words', () => {
  const reasons: Record<string, { meaning: string }> = eventReasons;
  const others = Object.entries(trackerCauses).filter(([kind, { meaning }]) => {
    const reason = reasons[`tracker-${kind}`] ?? reasons[kind];
    return reason && reason.meaning !== meaning;
  });
  expect(others).toEqual([]);
});

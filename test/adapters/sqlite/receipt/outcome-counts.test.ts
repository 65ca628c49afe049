import { receiptsIn } from '../../../support/partners.ts';
import { expect, test } from 'vitest';
import { describeOutcomeCounts } from '../../../contract/outcome-counts.ts';
import { temporaryDatabase } from '../../../support/stores.ts';

describeOutcomeCounts('SQLite', async () => {
  const database = temporaryDatabase();
  return {
    database,
    store: receiptsIn(database),
  };
});

test('an index has all that is counted: no event is read', () => {
  const { handle } = temporaryDatabase();
  const plan = handle
    .prepare(
      `EXPLAIN QUERY PLAN SELECT 1 FROM event INDEXED BY event_by_outcome
       WHERE outcome = 'DONE' AND receipt >= 1 AND receipt < 2 LIMIT 9`,
    )
    .all() as { detail: string }[];
  expect(plan.map(({ detail }) => detail)).toEqual([
    'SEARCH event USING COVERING INDEX event_by_outcome (outcome=? AND receipt>? AND receipt<?)',
  ]);
});

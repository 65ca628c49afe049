/**
 * Whatever happens, no certificate says more than is true when it is made: deletions of the same people in any order,
 * calls that fail, leads that come late, a process that ends, what operators give back and have worked again.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Action } from '#partners/partner.ts';
import { CertificateModel, step } from '../../support/deletions/certificate-model.ts';
import { ADMIN } from '../../support/deletions/tracker.ts';

const anyActions = fc.constantFrom<Action[]>(
  ['relabel', 'close'],
  ['relabel', 'close', 'comment', 'redact'],
  ['close', 'delete'],
);

test('no certificate says more than is true when it is made', { timeout: 300_000 }, async () => {
  const steps = fc.array(step, { minLength: 6, maxLength: 18 });
  const property = fc.asyncProperty(anyActions, steps, async (actions, steps) => {
    const adminToken = actions.includes('delete') ? { adminToken: ADMIN } : {};
    const model = await CertificateModel.open({ actions, ...adminToken });
    for (const next of steps) {
      await model.run(next);
      expect(await model.overstatements()).toEqual([]);
    }
    await model.settle();
    expect(await model.overstatements()).toEqual([]);
  });
  await fc.assert(property, { numRuns: 30, endOnFailure: true });
});

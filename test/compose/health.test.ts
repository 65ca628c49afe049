import { expect, test, vi } from 'vitest';
import { TrackportError } from '#shared/errors.ts';
import type { App } from '#compose/app.ts';
import { healthChecks, workerCheck } from '#compose/health.ts';
import { leadIssue, openTracker } from '../support/deletions/tracker.ts';
import { openDeletions } from '../support/deletions/world.ts';
import { temporaryDatabase, withCommits } from '../support/stores.ts';
import { eventually } from '../support/eventually.ts';

/** A worker on a store that can be read, and takes no writes while `refuses` says so. */
async function worldOnFailingStore() {
  const database = temporaryDatabase();
  let isRefusing = false;
  const refusing = <T>(work: () => T): T => {
    if (isRefusing) throw new TrackportError('store-unavailable');
    return work();
  };
  const failing = withCommits(database, refusing);
  const world = await openDeletions({ of: { tracker: await openTracker(), database: failing } });
  await world.start();
  const refuse = (refuses: boolean): void => {
    isRefusing = refuses;
  };
  return { world, refuse };
}

test('the worker is failing while its store takes no writes, and ok again by itself', async () => {
  const { world, refuse } = await worldOnFailingStore();
  const check = () => workerCheck(world.partners.workerStatus())();
  expect(await check()).toEqual({ state: 'ok' });
  const { number } = world.tracker.createIssue(leadIssue());
  const id = await world.send({ leadId: number });
  refuse(true);
  await eventually(async () => {
    const detail = expect.stringMatching(/^Nothing gets done since .*Z\. .*: store-unavailable\.$/);
    expect(await check()).toEqual({ state: 'failing', detail });
  });
  refuse(false);
  await world.settled(id);
  await eventually(async () => expect(await check()).toEqual({ state: 'ok' }));
});

test.each(['running', 'standby'] as const)(
  'that events wait for their partner is told by an instance that is %s, without a name',
  async (state) => {
    const directory = { state: 'complete', issues: 3 } as const;
    const status = { state, open: 2, deadLetters: 0, lackedPartners: ['crm-nine'], directory };
    const told = await workerCheck(Promise.resolve(status))();
    expect(told).toMatchObject({ state: 'lacking' });
    expect(told.detail).toContain('lacks their partner');
    expect(told.detail).not.toContain('crm-nine');
  },
);

test('worker and directory are told of by one reading of the worker', async () => {
  const directory = { state: 'complete', issues: 3 };
  const status = { state: 'running', open: 0, deadLetters: 0, lackedPartners: [], directory };
  const workerStatus = vi.fn<() => Promise<unknown>>(() => Promise.resolve(status));
  const partnerRegistry = { partnerIds: () => ['crm-one'] };
  const checks = healthChecks({ partners: { workerStatus }, partnerRegistry } as unknown as App);
  expect(await checks['worker']?.()).toEqual({ state: 'ok' });
  expect(await checks['directory']?.()).toMatchObject({ state: 'complete' });
  expect(workerStatus).toHaveBeenCalledOnce();
});

import { setImmediate as nextTurn, setTimeout as timersRun } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { HttpApp } from '#http/context.ts';
import { buildTestApp, serviceReports } from '../support/http/app.ts';

const LAG_MS_MAX = 20;
const operations = serviceReports();

async function openApp(): Promise<HttpApp> {
  const app = buildTestApp({ operations, limits: { lagMsMax: LAG_MS_MAX } });
  onTestFinished(() => app.close());
  await app.ready();
  return app;
}

function holdUp(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

const statusOf = async (app: HttpApp, url: string): Promise<number> =>
  (await app.inject({ url })).statusCode;

test('while the event loop lags, requests are turned away, and operations are told', async () => {
  // A call that opens a file, as this does, ends the process where callers have taken all descriptors.
  const opening = vi.spyOn(process, 'memoryUsage').mockImplementation(() => {
    throw new Error('EMFILE');
  });
  onTestFinished(() => opening.mockRestore());
  const app = await openApp();
  const look = async () => {
    holdUp(2 * LAG_MS_MAX);
    await nextTurn();
    return app.inject({ url: '/problems/overloaded' });
  };
  let response = await look();
  for (let looks = 1; looks < 500 && response.statusCode !== 503; looks += 1)
    response = await look();
  expect(response.json()).toMatchObject({ code: 'overloaded' });
  expect(response.headers['retry-after']).toBe('5');
  expect(await statusOf(app, '/healthz')).toBe(200);
  await expect.poll(() => statusOf(app, '/problems/overloaded')).toBe(200);
});

test('once it has stood still, it goes on at once', async () => {
  const statuses: number[] = [];
  for (let tries = 0; tries < 5; tries += 1) {
    const app = await openApp();
    holdUp(5 * LAG_MS_MAX);
    await timersRun(1); // what is due is run before
    statuses.push(await statusOf(app, '/problems/overloaded'));
    await app.close(); // its timers would come between those of the next one
  }
  // A machine that is busy may hold it up once more: not every time.
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(2);
});

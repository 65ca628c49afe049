import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { loadConfig } from '#config/load.ts';
import {
  type ChildCalls,
  createIpc,
  packConfig,
  type PrimaryCalls,
  unpackConfig,
} from '../../../src/compose/processes/ipc.ts';

test('a configuration arrives as it was, secrets and all, and nobody can change it', () => {
  const tracker = { repository: 'acme/leads', auth: { token: 'a-token' } };
  const config = loadConfig({ environment: {}, settings: { tracker } });
  const arrived = unpackConfig(structuredClone(packConfig(config)));
  expect(arrived).toEqual(config);
  const { auth } = arrived.tracker;
  expect('token' in auth && auth.token?.reveal()).toBe('a-token');
  expect([arrived, arrived.server].every(Object.isFrozen)).toBe(true);
});

/** Two ends of one channel. */
function channels() {
  const ends = [new EventEmitter(), new EventEmitter()] as const;
  return ends.map((end, at) =>
    Object.assign(end, { send: (message: unknown) => void ends[1 - at]?.emit('message', message) }),
  );
}

test('each gets what it called for, whatever comes first, and nothing of what fails', async () => {
  const [primary = new EventEmitter(), child = new EventEmitter()] = channels();
  const slow = Promise.withResolvers<string>();
  const unused = async () => undefined;
  const call = createIpc<PrimaryCalls, ChildCalls>(child, {
    start: unused,
    reload: unused,
    stop: unused,
    readiness: unused,
    metrics: unused,
    isHealthy: () => Promise.reject(new Error('not well')),
  });
  const callChild = createIpc<ChildCalls, PrimaryCalls>(primary, {
    metrics: () => slow.promise,
    isHealthy: async () => true,
    readiness: unused,
  });
  const metrics = call('metrics');
  expect(await call('isHealthy')).toBe(true);
  expect(await callChild('isHealthy')).toBeUndefined();
  slow.resolve('all');
  expect(await metrics).toBe('all');
});

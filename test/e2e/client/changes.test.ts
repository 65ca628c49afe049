/** A follower of the lead feed by the client gets every change, whatever stands in between. */
import { CursorExpiredError, ProblemError, type Lead, type LeadStore } from '@trackport/client';
import { expect, onTestFinished, test } from 'vitest';
import { whileTimePasses } from '../../support/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { sendDeletion } from '../support/world.ts';
import { follow, openFeedWorld, openProxy } from './support.ts';
import { type Socket, connect, createServer } from 'node:net';
import { openServer } from '../../support/http/local-server.ts';

/** A copy of leads in a map. */
function createMapStore() {
  let copy = new Map<string, Lead>();
  let next: typeof copy | undefined;
  let cursor: string | undefined;
  let swapped = 0;
  const store: LeadStore = {
    cursor: () => cursor,
    apply: (batch) => {
      for (const change of batch.changes)
        if (change.type === 'lead.changed') (next ?? copy).set(change.id, change.lead);
        else (next ?? copy).delete(change.id);
      cursor = batch.cursor;
    },
    beginNew: () => void (next = new Map()),
    swap: () => {
      copy = next ?? copy;
      next = undefined;
      swapped += 1;
    },
  };
  const ids = (): string[] => [...copy.keys()].sort((left, right) => Number(left) - Number(right));
  return { store, ids, swaps: () => swapped };
}

/** A way whose connections break off when told; `requests`: the first line of each. */
async function openWay(
  target: string,
): Promise<{ url: string; requests: string[]; cut: () => number }> {
  const sockets = new Set<Socket>();
  const requests: string[] = [];
  const server = createServer((near) => {
    near.once('data', (head) => requests.push(String(head).split('\r\n')[0] ?? ''));
    const far = connect(Number(new URL(target).port), '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket.on('error', () => undefined));
      socket.on('close', () => {
        near.destroy();
        far.destroy();
        sockets.delete(socket);
      });
    }
    near.pipe(far).pipe(near);
  });
  const url = await openServer(server);
  const cut = (): number => {
    const cutNow = sockets.size;
    for (const socket of sockets) socket.destroy();
    return cutNow;
  };
  onTestFinished(() => void cut());
  return { url, requests, cut };
}

const system = { actor: { kind: 'system', subject: 'test' } } as const;

for (const transport of ['stream', 'poll'] as const)
  test(`${transport}: brings what is there, and then what changes`, async () => {
    const { service, tracker, clientAt, lead } = await openFeedWorld();
    const [one, two] = [lead(), lead()];
    const reader = follow(clientAt(service.url), { from: 'start', transport });
    await eventually(() =>
      expect(new Set(reader.items())).toEqual(new Set([`+${one}`, `+${two}`])),
    );
    await service.clock.advance(2000);
    tracker.editIssue(Number(one), { title: 'Changed' });
    await eventually(async () => {
      await service.clock.advance(200);
      expect(reader.changes.at(-1)).toMatchObject({ id: one, lead: { title: 'Changed' } });
    });
    await sendDeletion(service.url, Number(two));
    await eventually(async () => {
      await service.clock.advance(200);
      expect(reader.items()).toContain(`-${two}`);
    });
    expect(reader.failures).toEqual([]);
  });

test('a stream that is cut goes on behind the last item', async () => {
  const { service, clientAt, lead } = await openFeedWorld();
  const way = await openWay(service.url);
  const one = lead();
  const reader = follow(clientAt(way.url), { from: 'start' });
  await eventually(() => expect(reader.items()).toContain(`+${one}`));
  await service.clock.advance(2000);
  // Between the page and the stream there is nothing to be cut.
  await eventually(() => {
    way.cut();
    expect(reader.failures).toHaveLength(1);
  });
  const two = lead();
  await eventually(async () => {
    await service.clock.advance(200);
    expect(reader.items()).toContain(`+${two}`);
  });
  expect(reader.failures).toHaveLength(1);
  expect(way.requests[0]).toContain('changes?from=start&');
  expect(way.requests.slice(1)).toEqual(
    way.requests.slice(1).map(() => expect.stringContaining('changes?cursor=')),
  );
});

for (const transport of ['stream', 'poll'] as const)
  test(`${transport}: who starts again with the cursor that it kept misses nothing`, async () => {
    const { service, clientAt, lead } = await openFeedWorld();
    const client = clientAt(service.url);
    const numbers = [lead(), lead(), lead()];
    const first = follow(client, { from: 'start', transport });
    await eventually(() => expect(new Set(first.items()).size).toBe(numbers.length));
    await first.stop();
    await service.clock.advance(2000);
    const late = lead();
    // Whatever was kept last, all that came behind it comes, perhaps more.
    for (const [kept, { cursor }] of first.changes.entries()) {
      const second = follow(client, { cursor, from: 'start', transport });
      const missing = [...first.items().slice(kept + 1), `+${late}`];
      await eventually(async () => {
        await service.clock.advance(200);
        expect(second.items()).toEqual(expect.arrayContaining(missing));
      });
      await second.stop();
    }
  });

test.each([
  ['holds streams back', undefined],
  ['refuses streams', 403],
  ['answers streams by a failure of its own', 502],
])('behind a proxy that %s it polls', async (_does, refuseBy) => {
  const { service, clientAt, lead } = await openFeedWorld();
  const proxy = await openProxy(service.url, refuseBy);
  const one = lead();
  const reader = follow(clientAt(proxy.url), { from: 'start' });
  await eventually(() => expect(reader.items()).toContain(`+${one}`));
  const streams = () => proxy.accepted.filter((accept) => accept === 'text/event-stream');
  await eventually(() => expect(streams()).toHaveLength(1)); // pages could have brought the next one as well
  await service.clock.advance(2000);
  const two = lead();
  await eventually(async () => {
    await service.clock.advance(200);
    expect(reader.items()).toContain(`+${two}`);
  });
  expect(streams()).toHaveLength(1);
});

test('a cursor of before the grant changed ends with an error of its own', async () => {
  const { service, clientAt, lead } = await openFeedWorld();
  const one = lead('eu');
  const reader = follow(clientAt(service.url), { from: 'start' });
  await eventually(() => expect(reader.items()).toContain(`+${one}`));
  const { id } = (await (await service.get('/api/v1/me')).json()) as { id: string };
  const grants = [{ action: 'leads:read' as const, labels: ['eu'] }];
  await service.service.access.consumers.replaceGrants({ id, grants }, system);
  const error = await whileTimePasses(service.clock, reader.ended);
  expect(error).toBeInstanceOf(CursorExpiredError);
  expect(error).toMatchObject({ status: 410, code: 'cursor-expired' });
});

test('who empties the copy when its cursor has expired gets everything anew', async () => {
  const { service, clientAt, lead } = await openFeedWorld();
  const [one, two] = [lead('eu'), lead()];
  const first = follow(clientAt(service.url), { from: 'start', transport: 'poll' });
  await eventually(() => expect(new Set(first.items()).size).toBe(2));
  await first.stop();
  const { id } = (await (await service.get('/api/v1/me')).json()) as { id: string };
  const grants = [{ action: 'leads:read' as const, labels: ['eu'] }];
  await service.service.access.consumers.replaceGrants({ id, grants }, system);
  const copy = new Set([one, two]);
  const cursor = first.changes.at(-1)?.cursor;
  const second = follow(clientAt(service.url), { cursor, onExpired: () => copy.clear() });
  await eventually(() => expect(second.items()).toContain(`+${one}`));
  expect([...copy, ...second.items().filter((item) => item !== `+${one}`)]).toEqual([]);
});

test('a copy has what is there, then what changes, and is made anew beside itself after 410', async () => {
  const { service, tracker, clientAt, lead } = await openFeedWorld();
  const [one, two] = [lead('eu'), lead()];
  const { store, ids, swaps } = createMapStore();
  const hangUp = new AbortController();
  onTestFinished(() => hangUp.abort());
  const { caughtUp, ended } = clientAt(service.url).follow(store, { signal: hangUp.signal });
  await whileTimePasses(service.clock, caughtUp);
  expect(ids()).toEqual([one, two]);
  await service.clock.advance(2000);
  tracker.editIssue(Number(two), { title: 'Changed' });
  const three = lead('eu');
  await eventually(async () => {
    await service.clock.advance(200);
    expect(ids()).toEqual([one, two, three]);
  });
  const { id } = (await (await service.get('/api/v1/me')).json()) as { id: string };
  const grants = [{ action: 'leads:read' as const, labels: ['eu'] }];
  await service.service.access.consumers.replaceGrants({ id, grants }, system);
  await eventually(async () => {
    await service.clock.advance(200);
    expect([ids(), swaps()]).toEqual([[one, three], 1]);
  });
  hangUp.abort();
  await ended;
});

test('a revoked key ends it', async () => {
  const { service, clientAt } = await openFeedWorld();
  const reader = follow(clientAt(service.url), {});
  const { id } = (await (await service.get('/api/v1/me')).json()) as { id: string };
  await service.service.access.consumers.revoke({ id }, system);
  const error = await reader.ended;
  expect(error).toBeInstanceOf(ProblemError);
  expect(error).toMatchObject({ status: 401, code: 'unauthorized' });
});

test('an abort ends it at once, wherever it is', async () => {
  const { service, clientAt } = await openFeedWorld();
  for (const transport of ['stream', 'poll'] as const) {
    const reader = follow(clientAt(service.url), { transport });
    expect(await reader.stop()).toMatchObject({ name: 'AbortError' });
  }
  const waiting = follow(clientAt('http://127.0.0.1:1'), {});
  await eventually(() => expect(waiting.failures.length).toBeGreaterThan(0));
  expect(await waiting.stop()).toMatchObject({ name: 'AbortError' });
});

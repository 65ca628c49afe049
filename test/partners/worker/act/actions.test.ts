import { describe, expect, test } from 'vitest';
import { commentMarker, REDACTED_BODY, REDACTED_TITLE } from '#partners/worker/act/issue-edit.ts';
import type { Action } from '#partners/partner.ts';
import { ADMIN, leadIssue, WRITER } from '../../../support/deletions/tracker.ts';
import { type DeletionWorld, openDeletions } from '../../../support/deletions/world.ts';
import { eventually } from '../../../support/eventually.ts';

/** Time-out of what is waited for in vain; far more than any other call takes on a busy machine. */
const HANG_MS = 3000;

async function runningWorld(options?: Parameters<typeof openDeletions>[0]): Promise<DeletionWorld> {
  const world = await openDeletions(options);
  await world.start();
  return world;
}

const labelsOf = (world: DeletionWorld, number: number) =>
  world.tracker
    .readIssue(number)
    ?.labels.map(({ name }) => name)
    .sort();

/** One lead, one deletion of it, and what its event came to. */
async function deleteOne(
  world: DeletionWorld,
  prepare: (number: number) => void = () => undefined,
) {
  const { number } = world.tracker.createIssue(leadIssue());
  await world.filler.catchUp(); // what is not known in time is read by its number
  prepare(number);
  const id = await world.send({ leadId: String(number) });
  const receipt = await world.settled(id);
  return { number, id, receipt, event: receipt.events[0] };
}

const every: readonly Action[] = ['relabel', 'close', 'comment', 'redact', 'delete'];

describe('redact', () => {
  test('replaces title and body in the same write, and owns up to the history', async () => {
    const world = await runningWorld({ actions: ['relabel', 'close', 'redact'] });
    const { number, event } = await deleteOne(world);
    expect(event).toMatchObject({ outcome: 'DONE', erasure: 'incomplete-history' });
    const issue = world.tracker.readIssue(number);
    expect(issue).toMatchObject({ title: REDACTED_TITLE, body: REDACTED_BODY, state: 'closed' });
    expect(labelsOf(world, number)).toEqual(['deleted-by-partner', 'eu']);
    expect(world.tracker.calls.count({ method: 'PATCH' })).toBe(1);
    expect(world.tracker.calls.count({ path: /graphql/ })).toBe(1);
  });
});

describe('comment', () => {
  test('names the receipt and nobody', async () => {
    const world = await runningWorld({ actions: ['comment'] });
    const { number, id } = await deleteOne(world);
    const [comment] = world.tracker.readIssue(number)?.comments ?? [];
    expect(comment?.body).toContain(commentMarker(id));
    expect(comment?.body.replaceAll(id, '')).not.toMatch(/ada|hello/i);
  });

  test.each(['reset', 'truncated', 'hang'] as const)(
    'is not posted twice when its answer is lost by %s',
    async (kind) => {
      const deadline = kind === 'hang' ? { requestTimeoutMs: HANG_MS } : {};
      const world = await runningWorld({ actions: ['comment', 'close'], ...deadline });
      const { number, event } = await deleteOne(world, () =>
        world.tracker.fault({ kind, method: 'POST', path: 'comments$', when: 'after' }),
      );
      expect(event?.outcome).toBe('DONE');
      expect(event?.attempts).toBeGreaterThan(1); // more, where other calls are late as well
      expect(world.tracker.readIssue(number)?.comments).toHaveLength(1);
    },
  );

  describe('is posted once while replicas of the tracker lag', () => {
    const TRACKER = { tracker: { replicaLagMs: 500 }, worker: { timing: { replicaLagMs: 1500 } } };
    const leadOf = async (world: DeletionWorld): Promise<number> => {
      const { number } = world.tracker.createIssue(leadIssue());
      await eventually(async () => expect((await world.editor.read(number)).kind).toBe('issue'));
      return number;
    };
    const expectOnce = (world: DeletionWorld, number: number): void =>
      expect(world.tracker.readIssue(number)?.comments).toHaveLength(1);

    test('by two deletions of one delivery', async () => {
      const world = await runningWorld({ ...TRACKER, actions: ['comment'] });
      const number = await leadOf(world);
      const id = await world.send([
        { eventId: 1, leadId: String(number) },
        { eventId: 2, leadId: String(number) },
      ]);
      const { events } = await world.settled(id);
      expect(events.map(({ outcome }) => outcome)).toEqual(['DONE', 'DONE']);
      expectOnce(world, number);
    });

    test.each(['deletions', 'events'] as const)('by one that comes again: %s', async (path) => {
      const events = { 'crm-one': [{ type: '*', comment: 'once' }] };
      const world = await runningWorld({ ...TRACKER, actions: ['comment'], events });
      const number = await leadOf(world);
      const sent = { leadId: String(number) };
      const id = await world.send(sent, 'crm-one', path);
      await world.settled(id);
      expect(await world.send(sent, 'crm-one', path)).toBe(id);
      const [event] = (await world.settled(id)).events;
      expect(event?.history.map(({ what }) => what)).toContain('repeated');
      expectOnce(world, number);
    });

    test('by one whose answer is lost', async () => {
      const world = await runningWorld({ ...TRACKER, actions: ['comment'] });
      const number = await leadOf(world);
      world.tracker.fault({ kind: 'reset', method: 'POST', path: 'comments$', when: 'after' });
      const { events } = await world.settled(await world.send({ leadId: String(number) }));
      expect(events[0]?.outcome).toBe('DONE');
      expectOnce(world, number);
    });
  });

  test('is found among more comments than one page holds', async () => {
    const world = await runningWorld({ actions: ['comment'] });
    const { event } = await deleteOne(world, (number) => {
      for (let index = 0; index < 150; index += 1)
        world.tracker.addComment(number, `note ${index}`);
      world.tracker.fault({ kind: 'reset', method: 'POST', path: 'comments$', when: 'after' });
    });
    expect(event?.outcome).toBe('DONE');
    expect(world.tracker.calls.count({ method: 'POST', path: /comments$/ })).toBe(1);
  });
});

describe('delete', () => {
  test('removes the issue for good, and nothing else is done', async () => {
    const world = await runningWorld({ actions: every, adminToken: ADMIN });
    const { number, event } = await deleteOne(world);
    expect(event).toMatchObject({ outcome: 'DONE', erasure: 'complete' });
    expect(world.tracker.readIssue(number)).toBeUndefined();
    expect(world.tracker.calls.count({ method: 'PATCH' })).toBe(0);
    expect((await world.claims.current()).has(number)).toBe(true);
  });

  test.each([
    ['without an admin token', undefined, 1],
    ['with a token that may not', WRITER, 1],
    ['with a token that is refused again and again', 'no-such-token', 3],
  ])('is impossible %s, and the rest is done', async (_name, adminToken, attempts) => {
    const world = await runningWorld({
      actions: ['relabel', 'close', 'delete'],
      ...(adminToken !== undefined && { adminToken }),
    });
    const { number, event } = await deleteOne(world);
    expect(event).toMatchObject({ outcome: 'DONE', erasure: 'impossible', attempts });
    expect(world.tracker.readIssue(number)?.state).toBe('closed');
  });

  test('without an admin token is not tried, and waits for no turn', async () => {
    const world = await runningWorld({ actions: ['close', 'delete'] });
    const { number } = await deleteOne(world);
    const path = new RegExp(`/issues/${number}$`);
    expect(world.tracker.calls.count({ method: 'GET', path })).toBe(1);
    expect(world.tracker.calls.count({ method: 'PATCH', path })).toBe(1);
  });

  test('is done by a token that came between two tries', async () => {
    const actions = ['close', 'delete'] as const;
    const before = await runningWorld({ actions, worker: { retryMs: [500, 20] } });
    const { number } = before.tracker.createIssue(leadIssue());
    before.tracker.fault({ kind: 'status', status: 502, method: 'PATCH' });
    const id = await before.send({ leadId: String(number) });
    await eventually(async () => expect((await before.read(id)).events[0]?.attempts).toBe(1));
    await before.stop();
    const world = await runningWorld({ of: before, actions, adminToken: ADMIN });
    expect((await world.settled(id)).events[0]).toMatchObject({ erasure: 'complete' });
  });

  test('that is impossible still tells of what redact achieved', async () => {
    const world = await runningWorld({ actions: every });
    const { event } = await deleteOne(world);
    expect(event?.erasure).toBe('incomplete-history');
  });

  test('counts as complete when only its answer was lost', async () => {
    const world = await runningWorld({ actions: ['delete'], adminToken: ADMIN });
    const { event } = await deleteOne(world, () =>
      world.tracker.fault({ kind: 'reset', path: 'graphql', when: 'after' }),
    );
    expect(event).toMatchObject({ outcome: 'DONE', erasure: 'complete', attempts: 2 });
  });

  test('goes on when it was refused twice for reasons that pass', async () => {
    const world = await runningWorld({ actions: ['relabel', 'delete'], adminToken: ADMIN });
    const { number, event } = await deleteOne(world, () => {
      world.tracker.fault({ kind: 'bad-credentials', path: 'graphql' });
      world.tracker.fault({ kind: 'status', status: 403, path: 'graphql' });
    });
    expect(event).toMatchObject({ outcome: 'DONE', erasure: 'complete', attempts: 3 });
    expect(world.tracker.readIssue(number)).toBeUndefined();
  });

  test('that a page answers at every try is impossible, and the rest is done', async () => {
    const world = await runningWorld({
      actions: ['relabel', 'close', 'delete'],
      adminToken: ADMIN,
      worker: { retryMs: [20, 20, 20, 20] },
    });
    const page = { kind: 'status', text: '<html><title>Sign in</title></html>' } as const;
    const { number, event } = await deleteOne(world, () =>
      world.tracker.fault({ ...page, status: 200, path: 'graphql', count: 100 }),
    );
    expect(event).toMatchObject({ outcome: 'DONE', erasure: 'impossible', attempts: 5 });
    expect(world.tracker.readIssue(number)?.state).toBe('closed');
    expect(labelsOf(world, number)).toEqual(['deleted-by-partner', 'eu']);
  });
});

describe('a privacy deletion', () => {
  const ofPerson = (type: string) => ({ objectId: 77, subscriptionType: type, portalId: 1 });
  const plain = { ...ofPerson('contact.deletion'), eventId: 1 };
  const privacy = { ...ofPerson('contact.privacyDeletion'), eventId: 2 };

  test.each([
    ['after a plain one', [[plain], [privacy]]],
    ['before a plain one', [[privacy], [plain]]],
    ['in one batch with a plain one', [[plain, privacy]]],
    ['in one batch before a plain one', [[privacy, plain]]],
  ])('%s redacts the lead', async (_name, deliveries) => {
    const world = await runningWorld();
    const { number } = world.tracker.createIssue(leadIssue({ externalIds: { 'crm-two': '77' } }));
    const erasures = new Map<string | undefined, string | undefined>();
    for (const delivery of deliveries) {
      const { events } = await world.settled(await world.send(delivery, 'crm-two'));
      for (const event of events) {
        expect(event).toMatchObject({ outcome: 'DONE', leadIds: [String(number)] });
        erasures.set(event.eventType, event.erasure);
      }
    }
    expect(erasures.get('contact.privacyDeletion')).toBe('incomplete-history');
    expect(world.tracker.readIssue(number)).toMatchObject({ body: REDACTED_BODY, state: 'closed' });
  });
});

describe('verification of what came back', () => {
  test('labels that are dropped in silence are reported, never done', async () => {
    const world = await runningWorld();
    const { number, event } = await deleteOne(world, () =>
      world.tracker.fault({ kind: 'drop-labels', method: 'PATCH', count: 7 }),
    );
    expect(event).toMatchObject({ outcome: 'FAILED', lastError: 'labels-dropped', attempts: 7 });
    expect((await world.claims.current()).has(number)).toBe(true);
    expect((await world.partners.workerStatus()).deadLetters).toBe(1);
  });

  test('a write whose answer is lost is not repeated when it was done', async () => {
    const world = await runningWorld();
    const { event } = await deleteOne(world, () =>
      world.tracker.fault({ kind: 'truncated', method: 'PATCH', when: 'after' }),
    );
    expect(event).toMatchObject({ outcome: 'DONE', attempts: 2 });
    expect(world.tracker.calls.count({ method: 'PATCH' })).toBe(1);
  });

  const invalidField = (field: string) => ({
    message: 'Validation Failed',
    errors: [{ resource: 'Issue', field, code: 'invalid' }],
  });

  test('a refused reason for closing does not keep the lead open', async () => {
    const world = await runningWorld();
    const json = invalidField('state_reason');
    const { number, event } = await deleteOne(world, () =>
      world.tracker.fault({ kind: 'status', status: 422, json, method: 'PATCH' }),
    );
    expect(event).toMatchObject({ outcome: 'DONE', attempts: 1 });
    expect(world.tracker.readIssue(number)?.state).toBe('closed');
    expect(world.tracker.calls.count({ method: 'PATCH' })).toBe(2);
  });

  test.each<[string, unknown]>([
    ['says not why', {}],
    ['refuses another field', invalidField('labels')],
  ])('what the tracker refuses is a dead letter at once when it %s', async (_why, json) => {
    const world = await runningWorld();
    const { event } = await deleteOne(world, () =>
      world.tracker.fault({ kind: 'status', status: 422, json, method: 'PATCH' }),
    );
    expect(event).toMatchObject({ outcome: 'FAILED', lastError: 'refused', attempts: 1 });
    expect(world.tracker.calls.count({ method: 'PATCH' })).toBe(1);
  });
});

describe('rights that are missing without a word', () => {
  const paused = { state: 'paused', reason: 'forbidden' };
  const untilPaused = (world: DeletionWorld) =>
    eventually(async () => expect(await world.partners.workerStatus()).toMatchObject(paused));

  const writesOf = (world: DeletionWorld) =>
    world.tracker.calls.entries.filter(({ method }) => method !== 'GET').length;

  /** The worker's pause while one deletion is not permitted, and what the event came to after it. */
  async function pauseAndPermit(world: DeletionWorld, permit: () => void) {
    const { number } = world.tracker.createIssue(leadIssue());
    const id = await world.send({ leadId: String(number) });
    await untilPaused(world);
    const { pausedSince } = await world.partners.workerStatus();
    const writes = writesOf(world);
    const seen = world.tracker.calls.count();
    await eventually(() => expect(world.tracker.calls.count()).toBeGreaterThan(seen + 4));
    expect(await world.partners.workerStatus()).toMatchObject({ ...paused, pausedSince });
    expect(writesOf(world)).toBe(writes);
    expect((await world.read(id)).events[0]).toMatchObject({ outcome: 'PENDING', attempts: 0 });
    permit();
    const [event] = (await world.settled(id)).events;
    return { event, labels: labelsOf(world, number) };
  }

  const done = {
    event: expect.objectContaining({ outcome: 'DONE', attempts: 1 }),
    labels: ['deleted-by-partner', 'eu'],
  };

  const worker = { timing: { probeEveryMs: 30 } };

  test('a write that is answered 404 for the token’s scopes pauses the worker', async () => {
    const grant = { token: 'ghp_classic', can: 'write' as const, scopes: ['read:user'] };
    const world = await openDeletions({ worker, token: grant.token, tracker: { tokens: [grant] } });
    world.tracker.editRepository({ isPrivate: false });
    await world.start();
    const after = await pauseAndPermit(world, () => void grant.scopes.push('public_repo'));
    expect(after).toEqual(done);
  });

  test('labels that are dropped for the user’s rights pause the worker', async () => {
    const grant: { token: string; can: 'edit' | 'write' } = { token: 'ghp_user', can: 'edit' };
    const world = await runningWorld({ worker, token: grant.token, tracker: { tokens: [grant] } });
    const after = await pauseAndPermit(world, () => {
      grant.can = 'write';
    });
    expect(after).toEqual(done);
  });

  test('an archived repository pauses the worker', async () => {
    const world = await runningWorld({ worker });
    world.tracker.editRepository({ isArchived: true });
    const unarchive = () => world.tracker.editRepository({ isArchived: false });
    expect(await pauseAndPermit(world, unarchive)).toEqual(done);
  });

  test('where all that the tracker tells allows it, a 404 is a failure that spends a try', async () => {
    const world = await runningWorld();
    const { event } = await deleteOne(world, () =>
      world.tracker.fault({ kind: 'status', status: 404, method: 'PATCH', count: 7 }),
    );
    expect(event).toMatchObject({ outcome: 'FAILED', lastError: 'not-found', attempts: 7 });
    expect((await world.partners.workerStatus()).state).toBe('running');
  });

  test('a locked issue that takes no comment is a dead letter and stops no other', async () => {
    const grant = { token: 'ghp_user', can: 'edit' as const };
    const world = await runningWorld({
      actions: ['close', 'comment'],
      token: grant.token,
      tracker: { tokens: [grant, { token: ADMIN, can: 'admin' }] },
    });
    const lock = (number: number) =>
      fetch(`${world.tracker.url}/repos/acme/leads/issues/${number}/lock`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${ADMIN}`, 'user-agent': 'test' },
      });
    const { number } = world.tracker.createIssue(leadIssue());
    expect((await lock(number)).status).toBe(204);
    const [event] = (await world.settled(await world.send({ leadId: String(number) }))).events;
    expect(event).toMatchObject({ outcome: 'FAILED', lastError: 'locked', attempts: 1 });
    expect(world.tracker.readIssue(number)?.state).toBe('closed');
    expect((await deleteOne(world)).event?.outcome).toBe('DONE');
  });
});

describe('an issue that is not there any more', () => {
  test.each([{ hidden: false }, { hidden: true }])(
    'is done when it was deleted: %o',
    async (how) => {
      const world = await runningWorld();
      const { number } = world.tracker.createIssue(leadIssue());
      await world.filler.catchUp();
      world.tracker.deleteIssue(number, how);
      const receipt = await world.settled(await world.send({ leadId: String(number) }));
      expect(receipt.events[0]).toMatchObject({ outcome: 'DONE', attempts: 1 });
      expect(receipt.events[0]).not.toHaveProperty('erasure');
    },
  );

  test('is looked for again when a replica does not have it yet', async () => {
    const world = await runningWorld();
    const { number, event } = await deleteOne(world, (created) =>
      world.tracker.fault({ kind: 'status', status: 404, method: 'GET', path: `/${created}$` }),
    );
    expect(event).toMatchObject({ outcome: 'DONE', attempts: 1 });
    expect(world.tracker.readIssue(number)?.state).toBe('closed');
  });

  test('is FAILED when it was moved, and the other repository stays as it is', async () => {
    const world = await runningWorld();
    const { number } = world.tracker.createIssue(leadIssue());
    await world.filler.catchUp();
    const moved = world.tracker.transferIssue(number, 'acme/elsewhere');
    const receipt = await world.settled(await world.send({ leadId: String(number) }));
    expect(receipt.events[0]).toMatchObject({ outcome: 'FAILED', lastError: 'transferred' });
    expect(world.tracker.readIssue(moved.number, 'acme/elsewhere')).toEqual(moved);
  });

  test('moved between read and write: the redirect is not followed', async () => {
    const world = await runningWorld();
    const { number } = world.tracker.createIssue(leadIssue());
    const gate = world.tracker.hold({ method: 'PATCH', when: 'before' });
    const id = await world.send({ leadId: String(number) });
    await gate.arrived();
    const moved = world.tracker.transferIssue(number, 'acme/elsewhere');
    gate.open();
    expect((await world.settled(id)).events[0]).toMatchObject({ lastError: 'transferred' });
    expect(world.tracker.readIssue(moved.number, 'acme/elsewhere')).toEqual(moved);
  });
});

describe('retries', () => {
  test.each([
    { kind: 'status', status: 502, text: '<html>Bad gateway</html>' },
    { kind: 'hang' },
  ] as const)('get over $kind $status', async (fault) => {
    const world = await runningWorld(fault.kind === 'hang' ? { requestTimeoutMs: HANG_MS } : {});
    const { number, event } = await deleteOne(world, () =>
      world.tracker.fault({ ...fault, method: 'PATCH', count: 2 }),
    );
    expect(event).toMatchObject({ outcome: 'DONE', attempts: 3 });
    expect(world.tracker.readIssue(number)?.state).toBe('closed');
  });

  test('end as a dead letter after the last one, which can be replayed', async () => {
    const world = await runningWorld({ worker: { retryMs: [5, 5] } });
    const { number, id, event } = await deleteOne(world, () =>
      world.tracker.fault({ kind: 'status', status: 500, method: 'PATCH', count: 3 }),
    );
    expect(event).toMatchObject({ outcome: 'FAILED', lastError: 'tracker-server', attempts: 3 });
    const actor = { kind: 'cli', subject: 'ada' } as const;
    const { receipts } = world.partners;
    expect(await receipts.replayAll({ outcome: 'FAILED' }, { actor })).toEqual({ queued: 1 });
    expect((await world.settled(id)).events[0]).toMatchObject({ outcome: 'DONE', attempts: 1 });
    expect(world.tracker.readIssue(number)?.state).toBe('closed');
  });

  test('spend no try while a rate limit is in force', async () => {
    const world = await runningWorld();
    const { event } = await deleteOne(world, () =>
      world.tracker.fault({ kind: 'secondary-limit', method: 'PATCH', retryAfterSeconds: 1 }),
    );
    expect(event).toMatchObject({ outcome: 'DONE', attempts: 1 });
  });
});

describe('a tracker that refuses everything', () => {
  const refusals = [
    ['unauthorized', { kind: 'bad-credentials' }],
    ['repository-missing', { kind: 'repository-missing' }],
    ['version-retired', { kind: 'status', status: 410 }],
  ] as const;

  test('pauses it when issues are switched off, though each issue looks deleted', async () => {
    const world = await runningWorld();
    const { number } = world.tracker.createIssue(leadIssue());
    await world.filler.catchUp();
    world.tracker.disableIssues();
    const id = await world.send({ leadId: String(number) });
    await eventually(async () =>
      expect(await world.partners.workerStatus()).toMatchObject({ reason: 'issues-disabled' }),
    );
    expect((await world.read(id)).events[0]).toMatchObject({ outcome: 'PENDING', attempts: 0 });
  });

  test.each(refusals)(
    'pauses the worker, is asked again, and then all goes on: %s',
    async (reason, fault) => {
      const world = await runningWorld({ worker: { timing: { probeEveryMs: 30 } } });
      const { number } = world.tracker.createIssue(leadIssue());
      await world.filler.catchUp();
      world.tracker.fault({ ...fault, count: 1000 });
      const id = await world.send({ leadId: String(number) });
      await eventually(async () =>
        expect((await world.partners.workerStatus()).reason).toBe(reason),
      );
      const { pausedSince } = await world.partners.workerStatus();
      const seen = world.tracker.calls.count();
      await eventually(() => expect(world.tracker.calls.count()).toBeGreaterThan(seen + 4));
      expect(await world.partners.workerStatus()).toMatchObject({ state: 'paused', pausedSince });
      expect((await world.claims.current()).has(number)).toBe(true);
      expect((await world.read(id)).events[0]).toMatchObject({ outcome: 'PENDING', attempts: 0 });
      expect(world.tracker.readIssue(number)?.state).toBe('open');
      world.tracker.clearFaults();
      expect((await world.settled(id)).events[0]).toMatchObject({ outcome: 'DONE', attempts: 1 });
      expect((await world.partners.workerStatus()).state).toBe('running');
    },
  );

  test('pauses it when the repository was renamed, and no other is changed', async () => {
    const world = await runningWorld();
    const { number } = world.tracker.createIssue(leadIssue());
    await world.filler.catchUp();
    world.tracker.renameRepository('renamed');
    await world.send({ leadId: String(number) });
    await eventually(async () =>
      expect(await world.partners.workerStatus()).toMatchObject({ reason: 'repository-missing' }),
    );
    expect(world.tracker.readIssue(number)?.state).toBe('open');
  });
});

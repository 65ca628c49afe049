import { describe, expect, test, vi } from 'vitest';
import { commentMarker, REDACTED_BODY, REDACTED_TITLE } from '#partners/deletions/deletion.ts';
import type { Action } from '#partners/partner.ts';
import { ADMIN, leadIssue, openDesk, WRITER } from '../../support/deletion-desk.ts';
import type { Desk } from '../../support/deletion-desk.ts';

async function runningDesk(options?: Parameters<typeof openDesk>[0]): Promise<Desk> {
  const desk = await openDesk(options);
  await desk.start();
  return desk;
}

const labelsOf = (desk: Desk, number: number) =>
  desk.tracker
    .readIssue(number)
    ?.labels.map(({ name }) => name)
    .sort();

/** One lead, one deletion of it, and what its event came to. */
async function deleteOne(desk: Desk, prepare: (number: number) => void = () => undefined) {
  const { number } = desk.tracker.createIssue(leadIssue());
  prepare(number);
  const id = await desk.send({ leadId: String(number) });
  const receipt = await desk.settled(id);
  return { number, id, receipt, event: receipt.events[0] };
}

const every: readonly Action[] = ['relabel', 'close', 'comment', 'redact', 'delete'];

describe('redact', () => {
  test('replaces title and body in the same write, and owns up to the history', async () => {
    const desk = await runningDesk({ actions: ['relabel', 'close', 'redact'] });
    const { number, event } = await deleteOne(desk);
    expect(event).toMatchObject({ outcome: 'DONE', erasure: 'incomplete-history' });
    const issue = desk.tracker.readIssue(number);
    expect(issue).toMatchObject({ title: REDACTED_TITLE, body: REDACTED_BODY, state: 'closed' });
    expect(labelsOf(desk, number)).toEqual(['deleted-by-partner', 'eu']);
    expect(desk.tracker.calls.count({ method: 'PATCH' })).toBe(1);
    expect(desk.tracker.calls.count({ path: /graphql/ })).toBe(1);
  });
});

describe('comment', () => {
  test('names the receipt and nobody', async () => {
    const desk = await runningDesk({ actions: ['comment'] });
    const { number, id } = await deleteOne(desk);
    const [comment] = desk.tracker.readIssue(number)?.comments ?? [];
    expect(comment?.body).toContain(commentMarker(id));
    expect(comment?.body).not.toMatch(/ada|hello/i);
  });

  test.each(['reset', 'truncated', 'hang'] as const)(
    'is not posted twice when its answer is lost by %s',
    async (kind) => {
      const desk = await runningDesk({ actions: ['comment', 'close'], requestTimeoutMs: 200 });
      const { number, event } = await deleteOne(desk, () =>
        desk.tracker.fault({ kind, method: 'POST', path: 'comments$', when: 'after' }),
      );
      expect(event).toMatchObject({ outcome: 'DONE', attempts: 2 });
      expect(desk.tracker.readIssue(number)?.comments).toHaveLength(1);
    },
  );

  test('is found among more comments than one page holds', async () => {
    const desk = await runningDesk({ actions: ['comment'] });
    const { event } = await deleteOne(desk, (number) => {
      for (let index = 0; index < 150; index += 1) desk.tracker.addComment(number, `note ${index}`);
      desk.tracker.fault({ kind: 'reset', method: 'POST', path: 'comments$', when: 'after' });
    });
    expect(event?.outcome).toBe('DONE');
    expect(desk.tracker.calls.count({ method: 'POST', path: /comments$/ })).toBe(1);
  });
});

describe('delete', () => {
  test('removes the issue for good, and nothing else is done', async () => {
    const desk = await runningDesk({ actions: every, adminToken: ADMIN });
    const { number, event } = await deleteOne(desk);
    expect(event).toMatchObject({ outcome: 'DONE', erasure: 'complete' });
    expect(desk.tracker.readIssue(number)).toBeUndefined();
    expect(desk.tracker.calls.count({ method: 'PATCH' })).toBe(0);
    expect((await desk.claims.current()).has(number)).toBe(true);
  });

  test.each([
    ['without an admin token', undefined, 1],
    ['with a token that may not', WRITER, 1],
    ['with a token that is refused twice', 'no-such-token', 2],
  ])('is impossible %s, and the rest is done', async (_name, adminToken, attempts) => {
    const desk = await runningDesk({
      actions: ['relabel', 'close', 'delete'],
      ...(adminToken !== undefined && { adminToken }),
    });
    const { number, event } = await deleteOne(desk);
    expect(event).toMatchObject({ outcome: 'DONE', erasure: 'impossible', attempts });
    expect(desk.tracker.readIssue(number)?.state).toBe('closed');
  });

  test('that is impossible still tells of what redact achieved', async () => {
    const desk = await runningDesk({ actions: every });
    const { event } = await deleteOne(desk);
    expect(event?.erasure).toBe('incomplete-history');
  });

  test('counts as complete when only its answer was lost', async () => {
    const desk = await runningDesk({ actions: ['delete'], adminToken: ADMIN });
    const { event } = await deleteOne(desk, () =>
      desk.tracker.fault({ kind: 'reset', path: 'graphql', when: 'after' }),
    );
    expect(event).toMatchObject({ outcome: 'DONE', erasure: 'complete', attempts: 2 });
  });

  test('is tried again when the tracker stumbles', async () => {
    const desk = await runningDesk({ actions: ['delete'], adminToken: ADMIN });
    const stumble = { errors: [{ message: 'Something went wrong while executing your query.' }] };
    const { event } = await deleteOne(desk, () =>
      desk.tracker.fault({ kind: 'status', status: 200, json: stumble, path: 'graphql' }),
    );
    expect(event).toMatchObject({ outcome: 'DONE', erasure: 'complete', attempts: 2 });
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
    const desk = await runningDesk();
    const { number } = desk.tracker.createIssue(leadIssue({ externalIds: { 'crm-two': '77' } }));
    const erasures = new Map<string | undefined, string | undefined>();
    for (const delivery of deliveries) {
      const { events } = await desk.settled(await desk.send(delivery, 'crm-two'));
      for (const event of events) {
        expect(event).toMatchObject({ outcome: 'DONE', leadIds: [String(number)] });
        erasures.set(event.eventType, event.erasure);
      }
    }
    expect(erasures.get('contact.privacyDeletion')).toBe('incomplete-history');
    expect(desk.tracker.readIssue(number)).toMatchObject({ body: REDACTED_BODY, state: 'closed' });
  });
});

describe('verification of what came back', () => {
  test('labels that are dropped in silence are reported, never done', async () => {
    const desk = await runningDesk();
    const { number, event } = await deleteOne(desk, () =>
      desk.tracker.fault({ kind: 'drop-labels', method: 'PATCH', count: 7 }),
    );
    expect(event).toMatchObject({ outcome: 'FAILED', lastError: 'labels-dropped', attempts: 7 });
    expect((await desk.claims.current()).has(number)).toBe(true);
    expect((await desk.worker.status()).deadLetters).toBe(1);
  });

  test('a write whose answer is lost is not repeated when it was done', async () => {
    const desk = await runningDesk();
    const { event } = await deleteOne(desk, () =>
      desk.tracker.fault({ kind: 'truncated', method: 'PATCH', when: 'after' }),
    );
    expect(event).toMatchObject({ outcome: 'DONE', attempts: 2 });
    expect(desk.tracker.calls.count({ method: 'PATCH' })).toBe(1);
  });

  test('a refused reason for closing does not keep the lead open', async () => {
    const desk = await runningDesk();
    const { number, event } = await deleteOne(desk, () =>
      desk.tracker.fault({ kind: 'status', status: 422, method: 'PATCH' }),
    );
    expect(event).toMatchObject({ outcome: 'DONE', attempts: 1 });
    expect(desk.tracker.readIssue(number)?.state).toBe('closed');
  });

  test('what the tracker refuses to understand is a dead letter at once', async () => {
    const desk = await runningDesk({ actions: ['relabel'] });
    const { event } = await deleteOne(desk, () =>
      desk.tracker.fault({ kind: 'status', status: 422, method: 'PATCH' }),
    );
    expect(event).toMatchObject({ outcome: 'FAILED', lastError: 'refused', attempts: 1 });
  });
});

describe('rights that are missing without a word', () => {
  const paused = { state: 'paused', reason: 'forbidden' };
  const untilPaused = (desk: Desk) =>
    vi.waitFor(async () => expect(await desk.worker.status()).toMatchObject(paused), 5000);

  const writesOf = (desk: Desk) =>
    desk.tracker.calls.entries.filter(({ method }) => method !== 'GET').length;

  /** The worker's pause while one deletion is not permitted, and what the event came to after it. */
  async function pauseAndPermit(desk: Desk, permit: () => void) {
    const { number } = desk.tracker.createIssue(leadIssue());
    const id = await desk.send({ leadId: String(number) });
    await untilPaused(desk);
    const { pausedSince } = await desk.worker.status();
    const writes = writesOf(desk);
    const seen = desk.tracker.calls.count();
    await vi.waitFor(() => expect(desk.tracker.calls.count()).toBeGreaterThan(seen + 4), 5000);
    expect(await desk.worker.status()).toMatchObject({ ...paused, pausedSince });
    expect(writesOf(desk)).toBe(writes);
    expect((await desk.read(id)).events[0]).toMatchObject({ outcome: 'PENDING', attempts: 0 });
    permit();
    const [event] = (await desk.settled(id)).events;
    return { event, labels: labelsOf(desk, number) };
  }

  const done = {
    event: expect.objectContaining({ outcome: 'DONE', attempts: 1 }),
    labels: ['deleted-by-partner', 'eu'],
  };

  const worker = { probeEveryMs: 30 };

  test('a write that is answered 404 for the token’s scopes pauses the worker', async () => {
    const grant = { token: 'ghp_classic', can: 'write' as const, scopes: ['read:user'] };
    const desk = await openDesk({ worker, token: grant.token, tracker: { tokens: [grant] } });
    desk.tracker.editRepository({ isPrivate: false });
    await desk.start();
    const after = await pauseAndPermit(desk, () => void grant.scopes.push('public_repo'));
    expect(after).toEqual(done);
  });

  test('labels that are dropped for the user’s rights pause the worker', async () => {
    const grant: { token: string; can: 'edit' | 'write' } = { token: 'ghp_user', can: 'edit' };
    const desk = await runningDesk({ worker, token: grant.token, tracker: { tokens: [grant] } });
    const after = await pauseAndPermit(desk, () => {
      grant.can = 'write';
    });
    expect(after).toEqual(done);
  });

  test('an archived repository pauses the worker', async () => {
    const desk = await runningDesk({ worker });
    desk.tracker.editRepository({ isArchived: true });
    const unarchive = () => desk.tracker.editRepository({ isArchived: false });
    expect(await pauseAndPermit(desk, unarchive)).toEqual(done);
  });

  test('where all that the tracker tells allows it, a 404 is a failure that spends a try', async () => {
    const desk = await runningDesk();
    const { event } = await deleteOne(desk, () =>
      desk.tracker.fault({ kind: 'status', status: 404, method: 'PATCH', count: 7 }),
    );
    expect(event).toMatchObject({ outcome: 'FAILED', lastError: 'not-found', attempts: 7 });
    expect((await desk.worker.status()).state).toBe('running');
  });

  test('a locked issue that takes no comment is a dead letter and stops no other', async () => {
    const grant = { token: 'ghp_user', can: 'edit' as const };
    const desk = await runningDesk({
      actions: ['close', 'comment'],
      token: grant.token,
      tracker: { tokens: [grant, { token: ADMIN, can: 'admin' }] },
    });
    const lock = (number: number) =>
      fetch(`${desk.tracker.url}/repos/acme/leads/issues/${number}/lock`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${ADMIN}`, 'user-agent': 'test' },
      });
    const { number } = desk.tracker.createIssue(leadIssue());
    expect((await lock(number)).status).toBe(204);
    const [event] = (await desk.settled(await desk.send({ leadId: String(number) }))).events;
    expect(event).toMatchObject({ outcome: 'FAILED', lastError: 'locked', attempts: 1 });
    expect(desk.tracker.readIssue(number)?.state).toBe('closed');
    expect((await deleteOne(desk)).event?.outcome).toBe('DONE');
  });
});

describe('an issue that is not there any more', () => {
  test.each([{ hidden: false }, { hidden: true }])(
    'is done when it was deleted: %o',
    async (how) => {
      const desk = await runningDesk();
      const { number } = desk.tracker.createIssue(leadIssue());
      await desk.filler.catchUp();
      desk.tracker.deleteIssue(number, how);
      const receipt = await desk.settled(await desk.send({ leadId: String(number) }));
      expect(receipt.events[0]).toMatchObject({ outcome: 'DONE', attempts: 1 });
      expect(receipt.events[0]).not.toHaveProperty('erasure');
    },
  );

  test('is looked for again when a replica does not have it yet', async () => {
    const desk = await runningDesk();
    const { number, event } = await deleteOne(desk, (created) =>
      desk.tracker.fault({ kind: 'status', status: 404, method: 'GET', path: `/${created}$` }),
    );
    expect(event).toMatchObject({ outcome: 'DONE', attempts: 1 });
    expect(desk.tracker.readIssue(number)?.state).toBe('closed');
  });

  test('is FAILED when it was moved, and the other repository stays as it is', async () => {
    const desk = await runningDesk();
    const { number } = desk.tracker.createIssue(leadIssue());
    await desk.filler.catchUp();
    const moved = desk.tracker.transferIssue(number, 'acme/elsewhere');
    const receipt = await desk.settled(await desk.send({ leadId: String(number) }));
    expect(receipt.events[0]).toMatchObject({ outcome: 'FAILED', lastError: 'transferred' });
    expect(desk.tracker.readIssue(moved.number, 'acme/elsewhere')).toEqual(moved);
  });

  test('moved between read and write: the redirect is not followed', async () => {
    const desk = await runningDesk();
    const { number } = desk.tracker.createIssue(leadIssue());
    const gate = desk.tracker.hold({ method: 'PATCH', when: 'before' });
    const id = await desk.send({ leadId: String(number) });
    await gate.arrived();
    const moved = desk.tracker.transferIssue(number, 'acme/elsewhere');
    gate.open();
    expect((await desk.settled(id)).events[0]).toMatchObject({ lastError: 'transferred' });
    expect(desk.tracker.readIssue(moved.number, 'acme/elsewhere')).toEqual(moved);
  });

  test('fails for one lead only: the others of the person are finished', async () => {
    const desk = await runningDesk();
    const gone = desk.tracker.createIssue(leadIssue()).number;
    const left = desk.tracker.createIssue(leadIssue()).number;
    await desk.filler.catchUp();
    desk.tracker.transferIssue(gone, 'acme/elsewhere');
    const receipt = await desk.settled(await desk.send({ email: 'ada@example.com' }));
    expect(receipt.events[0]).toMatchObject({ outcome: 'FAILED', lastError: 'transferred' });
    expect(desk.tracker.readIssue(left)?.state).toBe('closed');
  });
});

describe('retries', () => {
  test.each([
    { kind: 'status', status: 500 },
    { kind: 'status', status: 502, text: '<html>Bad gateway</html>' },
    { kind: 'reset' },
    { kind: 'hang' },
  ] as const)('get over $kind $status', async (fault) => {
    const desk = await runningDesk(fault.kind === 'hang' ? { requestTimeoutMs: 500 } : {});
    const { number, event } = await deleteOne(desk, () =>
      desk.tracker.fault({ ...fault, method: 'PATCH', count: 2 }),
    );
    expect(event).toMatchObject({ outcome: 'DONE', attempts: 3 });
    expect(desk.tracker.readIssue(number)?.state).toBe('closed');
  });

  test('end as a dead letter after the last one, which can be replayed', async () => {
    const desk = await runningDesk({ worker: { retryMs: [5, 5] } });
    const { number, id, event } = await deleteOne(desk, () =>
      desk.tracker.fault({ kind: 'status', status: 500, method: 'PATCH', count: 3 }),
    );
    expect(event).toMatchObject({ outcome: 'FAILED', lastError: 'tracker-server', attempts: 3 });
    const entry = {
      at: Date.now(),
      actor: { kind: 'cli', subject: 'ada' },
      action: 'receipt.replay',
      subject: 'receipts',
    } as const;
    expect(await desk.receipts.replayAll({ outcome: 'FAILED' }, entry)).toMatchObject({
      queued: 1,
    });
    desk.worker.wake();
    expect((await desk.settled(id)).events[0]).toMatchObject({ outcome: 'DONE', attempts: 1 });
    expect(desk.tracker.readIssue(number)?.state).toBe('closed');
  });

  test('spend no try while a rate limit is in force', async () => {
    const desk = await runningDesk();
    const { event } = await deleteOne(desk, () =>
      desk.tracker.fault({ kind: 'secondary-limit', method: 'PATCH', retryAfterSeconds: 1 }),
    );
    expect(event).toMatchObject({ outcome: 'DONE', attempts: 1 });
  });
});

describe('a tracker that refuses everything', () => {
  const refusals = [
    ['unauthorized', { kind: 'bad-credentials' }],
    ['repository-missing', { kind: 'repository-missing' }],
  ] as const;

  test.each(refusals)('pauses the worker: %s, and no try is spent', async (reason, fault) => {
    const desk = await runningDesk();
    const { number } = desk.tracker.createIssue(leadIssue());
    await desk.filler.catchUp();
    desk.tracker.fault({ ...fault, count: 1000 });
    const id = await desk.send({ leadId: String(number) });
    await vi.waitFor(
      async () => expect(await desk.worker.status()).toMatchObject({ state: 'paused', reason }),
      { timeout: 5000 },
    );
    expect((await desk.claims.current()).has(number)).toBe(true);
    expect((await desk.read(id)).events[0]).toMatchObject({ outcome: 'PENDING', attempts: 0 });
    expect(desk.tracker.readIssue(number)?.state).toBe('open');
  });

  test('pauses it when issues are switched off, though each issue looks deleted', async () => {
    const desk = await runningDesk();
    const { number } = desk.tracker.createIssue(leadIssue());
    await desk.filler.catchUp();
    desk.tracker.disableIssues();
    const id = await desk.send({ leadId: String(number) });
    await vi.waitFor(async () =>
      expect(await desk.worker.status()).toMatchObject({ reason: 'issues-disabled' }),
    );
    expect((await desk.read(id)).events[0]).toMatchObject({ outcome: 'PENDING', attempts: 0 });
  });

  test.each(refusals)('is asked again, and then all goes on: %s', async (reason, fault) => {
    const desk = await runningDesk({ worker: { probeEveryMs: 30 } });
    const { number } = desk.tracker.createIssue(leadIssue());
    await desk.filler.catchUp();
    desk.tracker.fault({ ...fault, count: 1000 });
    const id = await desk.send({ leadId: String(number) });
    await vi.waitFor(async () => expect((await desk.worker.status()).reason).toBe(reason), 5000);
    const { pausedSince } = await desk.worker.status();
    const seen = desk.tracker.calls.count();
    await vi.waitFor(() => expect(desk.tracker.calls.count()).toBeGreaterThan(seen + 4), 5000);
    expect(await desk.worker.status()).toMatchObject({ state: 'paused', pausedSince });
    desk.tracker.clearFaults();
    expect((await desk.settled(id)).events[0]).toMatchObject({ outcome: 'DONE', attempts: 1 });
    expect((await desk.worker.status()).state).toBe('running');
  });

  test('pauses it when the repository was renamed, and no other is changed', async () => {
    const desk = await runningDesk();
    const { number } = desk.tracker.createIssue(leadIssue());
    await desk.filler.catchUp();
    desk.tracker.renameRepository('renamed');
    await desk.send({ leadId: String(number) });
    await vi.waitFor(async () =>
      expect(await desk.worker.status()).toMatchObject({ reason: 'repository-missing' }),
    );
    expect(desk.tracker.readIssue(number)?.state).toBe('open');
  });
});

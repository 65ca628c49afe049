/**
 * Whatever happens, no certificate says more than is true when it is made: deletions of the same people in any order,
 * calls that fail, leads that come late, a process that ends, what operators give back and have worked again.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Action } from '#partners/partner.ts';
import type { CertificateClaims } from '#partners/receipts/certificate.ts';
import { REDACTED_BODY, REDACTED_TITLE } from '#partners/worker/act/issue-edit.ts';
import { HOUR, SECOND } from '#shared/clock.ts';
import { ADMIN, leadIssue } from '../../support/deletions/tracker.ts';
import {
  type DeletionOptions,
  type DeletionWorld,
  openDeletions,
} from '../../support/deletions/world.ts';

const actor = { kind: 'cli', subject: 'operator' } as const;
const emailOf = (person: number): string => `person-${person}@example.com`;

type Step =
  | { does: 'lead' | 'note' | 'release'; person: number }
  | { does: 'delete'; person: number; hasId: boolean }
  | { does: 'fault'; status: number; count: number }
  | { does: 'replay' | 'settle' | 'look' | 'restart' };

const person = fc.nat({ max: 1 });
const does = <Name extends Step['does']>(...names: Name[]) => fc.constantFrom(...names);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: does('lead'), person }) },
  { weight: 5, arbitrary: fc.record({ does: does('delete'), person, hasId: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ does: does('note', 'release', 'release'), person }) },
  {
    weight: 1,
    arbitrary: fc.record({
      does: does('fault'),
      status: fc.constantFrom(500, 403, 422),
      count: fc.integer({ min: 1, max: 8 }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ does: does('settle', 'settle', 'look', 'look', 'replay') }) },
  { weight: 1, arbitrary: fc.record({ does: does('restart') }) },
);

/** One world with the people that were deleted in it, and their leads. */
class CertificateModel {
  readonly #options: DeletionOptions;
  #world: DeletionWorld;
  readonly #leads = new Map<number, number[]>();
  readonly #deleted = new Set<number>();
  readonly receipts = new Set<string>();

  private constructor(options: DeletionOptions, world: DeletionWorld) {
    this.#options = options;
    this.#world = world;
  }

  static async open(options: DeletionOptions): Promise<CertificateModel> {
    const world = await openDeletions(options);
    await world.start();
    return new CertificateModel(options, world);
  }

  async run(next: Step): Promise<void> {
    const { tracker, partners, claims } = this.#world;
    switch (next.does) {
      case 'lead': {
        const times = { createdAt: Date.now() - HOUR, updatedAt: Date.now() }; // it came before, and is learnt late
        const issue = { ...leadIssue({ email: emailOf(next.person) }), ...times };
        this.#of(next.person).push(tracker.createIssue(issue).number);
        break;
      }
      case 'note':
        // A person who writes on what was deleted adds what no deletion saw.
        if (!this.#deleted.has(next.person))
          for (const number of this.#of(next.person)) tracker.addComment(number, NOTE);
        break;
      case 'delete': {
        this.#deleted.add(next.person);
        const eventId = next.hasId ? { eventId: `of-${next.person}` } : {};
        this.receipts.add(await this.#world.send({ email: emailOf(next.person), ...eventId }));
        break;
      }
      case 'release':
        for (const number of this.#of(next.person))
          await claims.release(number, { at: Date.now(), actor }).catch(() => undefined);
        break;
      case 'fault':
        tracker.fault({ kind: 'status', ...next, method: 'PATCH' });
        break;
      case 'replay':
        await partners.receipts.replayAll({}, { actor });
        break;
      case 'settle':
        await this.settle();
        break;
      case 'look': // whoever is looked for has the directory caught up
        await this.#world.settled(await this.#world.wake());
        break;
      case 'restart':
        await this.#world.stop();
        this.#world = await openDeletions({ ...this.#options, of: this.#world });
        await this.#world.start();
    }
  }

  async settle(): Promise<void> {
    for (const id of this.receipts) await this.#world.settled(id);
  }

  /** Statements of each certificate that the tracker or the claims know better by now. */
  async overstatements(): Promise<string[]> {
    const found: string[] = [];
    for (const id of this.receipts) {
      const certificate = await this.#world.partners.readCertificate(id, 'issuer');
      const { events } = await this.#world.read(id);
      const hidden = await this.#world.claims.current();
      const { iat = 0, events: certified = [] } = certificate?.claims ?? {};
      for (const [index, event] of certified.entries()) {
        const numbers = (events[index]?.leadIds ?? []).map(Number);
        const faults = [
          ...faultsInTime(event, iat * SECOND),
          ...(event.outcome === 'PENDING' ? faultsOfOpen(event) : []),
          ...(event.outcome === 'DONE' ? this.#faultsOfDone(event, numbers, hidden) : []),
        ];
        found.push(...faults.map((fault) => `${fault}: ${JSON.stringify(event)}`));
      }
    }
    return found;
  }

  #faultsOfDone(event: Event, numbers: readonly number[], hidden: Claims): string[] {
    const { erasure, remains = [], releasedAt } = event;
    if (releasedAt !== undefined) return []; // one that was given back is nobody's concern any more
    const shown = numbers.filter((number) => !hidden.has(number));
    const issues = numbers.flatMap((number) => this.#world.tracker.readIssue(number) ?? []);
    const isRedacted = ({ title, body }: Issue): boolean =>
      title === REDACTED_TITLE && body === REDACTED_BODY;
    const lacks = (one: (typeof remains)[number], isThere: boolean): string[] =>
      isThere && !remains.includes(one) ? [`lacks ${one}`] : [];
    return [
      ...shown.map((number) => `lead ${number} can be read`),
      ...(erasure === 'complete' && issues.length > 0 ? ['is not complete'] : []),
      ...lacks('text', !issues.every(isRedacted)),
      ...lacks('history', issues.some(isRedacted)),
      ...lacks(
        'comments',
        issues.some(({ comments }) => comments.some(isNote)),
      ),
    ];
  }

  #of(person: number): number[] {
    const numbers = this.#leads.get(person) ?? [];
    this.#leads.set(person, numbers);
    return numbers;
  }
}

type Event = CertificateClaims['events'][number];
type Issue = NonNullable<ReturnType<DeletionWorld['tracker']['readIssue']>>;
type Claims = Awaited<ReturnType<DeletionWorld['claims']['current']>>;

const NOTE = 'I called';
const isNote = ({ body }: { body: string }): boolean => body === NOTE;

function faultsInTime(event: Event, madeAt: number): string[] {
  const { receivedAt, claimedAt, releasedAt, completedAt } = event;
  const instants = [receivedAt, claimedAt, releasedAt, completedAt];
  const isLater = instants.some((at) => at !== undefined && Date.parse(at) > madeAt);
  return isLater ? ['says what came later'] : [];
}

function faultsOfOpen({ completedAt, erasure, remains }: Event): string[] {
  return (completedAt ?? erasure ?? remains) === undefined ? [] : ['is open and says an end'];
}

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
  await fc.assert(property, { numRuns: 20, endOnFailure: true });
});

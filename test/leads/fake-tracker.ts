import type { Clock } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { matchesFilter, orderTime } from '#leads/model/lead-query.ts';
import type {
  Issue,
  IssueResult,
  IssueQuery,
  LeadTracker,
  PageResult,
  TrackerQuota,
} from '#leads/lead-tracker.ts';

/** The tracker port over an array: keyset cursors on (instant, id), validators over content. */
export type FakeTracker = LeadTracker & {
  issues: Map<number, Issue & { id: number }>;
  open(facts?: Partial<Issue> & { id?: number }): Issue;
  change(number: number, facts: Partial<Issue>): Issue;
  remove(number: number): void;
  calls: string[];
  /** Calls whose response was not "unchanged". */
  billed: number;
  quotaNow: TrackerQuota | undefined;
  /** Thrown by every call while set. */
  failure: Error | undefined;
  /** Awaited before a call returns what was true when it was sent. */
  barrier: Promise<void> | undefined;
  /** True: "unchanged" never names the next page. */
  hasBareUnchanged: boolean;
  /** An older copy that responses come from, if any. */
  replica: Map<number, Issue & { id: number }> | undefined;
};

const PAGE = 100;

export function createFakeTracker(clock: Clock): FakeTracker {
  let next = 1;
  const seconds = () => Math.floor(clock.now() / 1000) * 1000;
  const fake: FakeTracker = {
    issues: new Map(),
    calls: [],
    billed: 0,
    quotaNow: undefined,
    failure: undefined,
    barrier: undefined,
    hasBareUnchanged: false,
    replica: undefined,
    quota: () => fake.quotaNow,
    open: (facts = {}) => {
      const number = next;
      next += 1;
      const issue = {
        id: 1000 + number,
        number,
        title: `Lead ${number}`,
        body: '',
        state: 'open' as const,
        labels: ['approved'],
        assignees: [],
        createdAt: seconds(),
        updatedAt: seconds(),
        isPullRequest: false,
        ...facts,
      };
      fake.issues.set(number, issue);
      return issue;
    },
    change: (number, facts) => {
      const issue = fake.issues.get(number);
      if (!issue) throw new Error(`no issue ${number}`);
      const changed = { ...issue, updatedAt: seconds(), ...facts };
      fake.issues.set(number, changed);
      return changed;
    },
    remove: (number) => {
      fake.issues.delete(number);
    },
    listIssues: (query, validator) =>
      respond(fake, `list ${query.order} ${query.after ?? ''}`, () => list(fake, query, validator)),
    readIssue: (number, validator) =>
      respond(fake, `issue ${number}`, () => readOne(fake, number, validator)),
  };
  return fake;
}

async function respond<T extends PageResult | IssueResult>(
  fake: FakeTracker,
  call: string,
  make: () => T,
): Promise<T> {
  fake.calls.push(call);
  if (fake.failure) throw fake.failure;
  const result = make();
  if (result.kind !== 'unchanged') fake.billed += 1;
  await fake.barrier;
  return result;
}

function list(fake: FakeTracker, query: IssueQuery, validator?: string): PageResult {
  const sign = query.order === 'created-desc' ? -1 : 1;
  const rows = [...(fake.replica ?? fake.issues).values()]
    .filter((issue) => matchesFilter({ ...issue, isPullRequest: false }, query))
    .sort(
      (left, right) =>
        sign * (orderTime(left, query.order) - orderTime(right, query.order) || left.id - right.id),
    );
  const [time = 0, id = 0] = query.after ? query.after.split('-').map(Number) : [];
  const behind = query.after
    ? rows.filter((row) => sign * (orderTime(row, query.order) - time || row.id - id) > 0)
    : rows;
  const page = behind.slice(0, PAGE);
  const last = page.at(-1);
  const after =
    behind.length > PAGE && last ? `${orderTime(last, query.order)}-${last.id}` : undefined;
  const tag = JSON.stringify(page);
  if (validator === tag)
    return { kind: 'unchanged', ...(after && !fake.hasBareUnchanged && { after }) };
  return { kind: 'changed', page: { issues: page, ...(after && { after }) }, validator: tag };
}

function readOne(fake: FakeTracker, number: number, validator?: string): IssueResult {
  const issue = (fake.replica ?? fake.issues).get(number);
  if (!issue) return { kind: 'absent', isMoved: false };
  const tag = JSON.stringify(issue);
  return validator === tag ? { kind: 'unchanged' } : { kind: 'changed', issue, validator: tag };
}

export function trackerDown(retryAfterSeconds?: number): TrackportError {
  return new TrackportError(
    'tracker-unavailable',
    retryAfterSeconds === undefined ? {} : { retryAfterSeconds },
  );
}

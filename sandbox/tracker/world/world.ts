import { type Clock, SECOND } from '#shared/clock.ts';
import type { NewId } from '#shared/ids.ts';
import { createIssueIndex, putIssue, removeIssue } from './issue-index.ts';
import type { Account, IssueRecord, Repository, TrackerChange, World } from './model.ts';

const FIRST_ID = 2_400_000_000; // ids are far from numbers, yet fit the 32 bits of a cursor

/** An empty tracker: no repository yet. */
export function createWorld(deps: { clock: Clock; newId: NewId; replicaLagMs: number }): World {
  const { clock, newId, replicaLagMs } = deps;
  return {
    clock,
    newId,
    replicaLagMs,
    origin: 'http://127.0.0.1',
    repositories: new Map(),
    names: new Map(),
    accounts: new Map(),
    fields: new Map(),
    ids: new Map(),
    versionEnds: new Map(),
    lagging: [],
    listeners: [],
    rendered: new WeakMap(),
    nextId: FIRST_ID,
    version: 0,
  };
}

/** The next id. Issues, labels, comments and repositories draw from one row of numbers. */
export function nextId(world: World): number {
  world.nextId += 7;
  return world.nextId;
}

/** Now, as the tracker dates things: whole seconds. */
export function nowInSeconds(world: World): number {
  return Math.floor(world.clock.now() / SECOND) * SECOND;
}

/** The account with this login, made on first sight; `…[bot]` is an app's. */
export function accountOf(world: World, login: string, kind?: Account['kind']): Account {
  const known = world.accounts.get(login.toLowerCase());
  if (known) return known;
  const fallback = login.endsWith('[bot]') ? 'Bot' : 'User';
  const account: Account = { login, id: 90_000_000 + world.accounts.size, kind: kind ?? fallback };
  world.accounts.set(login.toLowerCase(), account);
  return account;
}

/** Makes `owner/name`; the owner is an organisation. */
export function createRepository(world: World, fullName: string): Repository {
  const [owner = '', name = ''] = fullName.split('/');
  const issues = createIssueIndex();
  const repository: Repository = {
    id: 700_000_000 + world.repositories.size,
    owner: accountOf(world, owner, 'Organization'),
    createdAt: nowInSeconds(world),
    name,
    isPrivate: true,
    isArchived: false,
    hasIssues: true,
    issueCreationPolicy: 'all',
    updatedAt: nowInSeconds(world),
    nextNumber: 1,
    labels: new Map(),
    issues,
    replica: world.replicaLagMs > 0 ? createIssueIndex() : issues,
    departures: new Map(),
  };
  world.repositories.set(repository.id, repository);
  world.names.set(fullName.toLowerCase(), repository.id);
  return repository;
}

export function fullNameOf(repository: Repository): string {
  return `${repository.owner.login}/${repository.name}`;
}

/** The repository of a name: that which has it now, or had it before it was renamed. */
export function repositoryNamed(world: World, fullName: string): Repository | undefined {
  return world.repositories.get(world.names.get(fullName.toLowerCase()) ?? 0);
}

/** Puts a record in force; a lagging replica learns of it later. */
export function commitIssue(
  world: World,
  repository: Repository,
  record: IssueRecord,
): IssueRecord {
  putIssue(repository.issues, record);
  passOn(world, { repository, number: record.number, record });
  return record;
}

/** Takes a number out of its repository; what it became stands in `departures`. */
export function withdrawIssue(world: World, repository: Repository, number: number): void {
  removeIssue(repository.issues, number);
  passOn(world, { repository, number, record: undefined });
}

function passOn(
  world: World,
  write: { repository: Repository; number: number; record: IssueRecord | undefined },
): void {
  world.version += 1;
  if (world.replicaLagMs > 0)
    world.lagging.push({ ...write, visibleAt: world.clock.now() + world.replicaLagMs });
}

/** Lets the replicas catch up with every write older than the lag. */
export function catchUpReplicas(world: World): void {
  const now = world.clock.now();
  while (world.lagging[0] && world.lagging[0].visibleAt <= now) {
    const write = world.lagging.shift();
    if (!write) return;
    if (write.record) putIssue(write.repository.replica, write.record);
    else removeIssue(write.repository.replica, write.number);
    world.version += 1;
  }
}

/** Tells the listeners (webhooks) of a change. */
export function publish(world: World, change: TrackerChange): void {
  for (const listen of world.listeners) listen(change);
}

import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Clock, SECOND, sleepUntilAborted } from '#shared/clock.ts';
import { errorFields, type Log } from '#shared/log.ts';
import { createDrain } from '#shared/resilience/background.ts';
import { createQueue } from '#shared/resilience/turns.ts';
import { foldLabel } from '#shared/text/labels.ts';
import { hideLeadNow } from '../lead-feed/stored-changes.ts';
import { type DirectoryStore, NAMED, numbersOf } from '../lead-store.ts';
import { type Issue, REPLICA_LAG_MAX_MS, type TrackerEvent } from '../lead-tracker.ts';
import type { LeadRules } from '../model/lead.ts';
import { readUpdatedAts } from './directory-view.ts';
import { carriedOf, type DirectoryEntry, type LabelRename } from './lead-directory.ts';
import { noteMoved, putEntries, putRead, renameLabel } from './write-directory.ts';

/** The directory, as it is filled with what was learnt on the way, and the rules by which it is. */
type FilledDirectory = {
  store: DirectoryStore;
  toEntries: (issues: readonly Issue[]) => Promise<DirectoryEntry[]>;
  /** Forgets which repository the name means. */
  identify: { forget(): void };
  hasPartners(): boolean;
  rules: Pick<LeadRules, 'approvedLabel' | 'deletedLabel'>;
  clock: Clock;
  log: Log;
};

/** Asks for an issue, and takes it in. */
type Learn = (number: number) => Promise<unknown>;

/** Brings into the lead directory what the tracker's webhook tells, and what readers are shown. */
export function createIncoming(directory: FilledDirectory, learn: Learn) {
  const { store } = directory;
  const looks = createSecondLooks(directory, learn);
  const inbox = createDirectoryInbox({
    ...directory,
    putEntries: looks.put,
    noteMoved: (number) => noteMoved(store, number),
    renameLabel: (rename) => renameLabel(store, rename),
    hideLead: (number) => hideLeadNow(store, number),
  });
  const readLeads = createReadLeads(directory);
  const settled = async (): Promise<void> => {
    await Promise.all([inbox.settled(), readLeads.settled()]);
  };
  return {
    apply: (event: TrackerEvent): void => apply(directory, inbox, event),
    takeRead: (issues: readonly Issue[]): void => {
      if (directory.hasPartners()) readLeads.take(issues);
    },
    settled,
    stop: (): Promise<void> => settled().then(looks.stop),
  };
}

function apply(
  { rules: { approvedLabel, deletedLabel }, identify }: FilledDirectory,
  inbox: ReturnType<typeof createDirectoryInbox>,
  event: TrackerEvent,
): void {
  if (event.kind === 'everything') {
    identify.forget();
    const { renamedLabel: label } = event;
    if (label)
      inbox.rename({
        from: foldLabel(label.from),
        to: foldLabel(label.to),
        approvedLabel: foldLabel(approvedLabel),
        deletedLabel: foldLabel(deletedLabel),
      });
  }
  // A deleted issue keeps its row until a full crawl misses it, so that a deletion that names it
  // ends with the truth about that issue instead of UNMATCHED. Readers are told at once.
  if (event.kind !== 'issue') return;
  if (event.isGone && !event.isMoved) inbox.hide(event.issue.number);
  else inbox.take(event.issue, { isMoved: event.isMoved === true });
}

/** The directory, as what the webhook tells is written to it. */
type Directory = Pick<FilledDirectory, 'toEntries' | 'clock' | 'log'> & {
  putEntries(entries: readonly DirectoryEntry[]): Promise<void>;
  noteMoved(number: number): Promise<void>;
  renameLabel(rename: LabelRename): Promise<void>;
  hideLead(number: number): Promise<void>;
};

/** After a commit what comes within this time shares the next one. */
const COMMIT_EVERY_MS = SECOND / 25;
const RETRY_AFTER_MS = SECOND;
/** A commit holds up everybody else. */
const ISSUES_PER_COMMIT_MAX = 250;
/** Bodies wait until then, and can be long: what is more is left to the next catch-up. */
const WAITING_MAX = 2000;
const WAITING_CHARACTERS_MAX = 16 * 1024 * 1024;

type Waiting = {
  /** By number; several states where texts or labels differ: identities and approvals of all count. */
  waiting: Map<number, Issue[]>;
  size: number;
  /** Of the bodies that wait. */
  characters: number;
  /** Writes of what no catch-up shows. Each goes when it is done. */
  steps: Set<Step>;
  /** The last try of a step has failed. */
  hasFailed: boolean;
};

/** A write behind the states that wait of the issue, or of all, for they are older. */
type Step = { number?: number; write(): Promise<void> };

/**
 * Brings what the tracker's webhook reports into the lead directory, many issues to a commit: the first after a quiet
 * time at once.
 */
export function createDirectoryInbox(directory: Directory) {
  const state: Waiting = {
    waiting: new Map(),
    size: 0,
    characters: 0,
    steps: new Set(),
    hasFailed: false,
  };
  const drain = createDrain({
    hasWork: () => state.size > 0 || state.steps.size > 0,
    work: (hurry) => putSome(directory, state, hurry),
  });
  const addStep = (step: Step): void => {
    state.steps.add(step);
    drain.start();
  };
  return {
    /**
     * Never waits and never throws. An issue that the store fails, or that is too much, is left to the next catch-up.
     * `isMoved`: it is in another repository now.
     */
    take: (issue: Issue, { isMoved = false } = {}): void => {
      const { number } = issue;
      add(state, issue);
      if (isMoved) addStep({ number, write: () => directory.noteMoved(number) });
      else drain.start();
    },
    /** Hides an issue that was deleted: readers know it no more. No catch-up would: it is tried until it is done. */
    hide: (number: number): void => addStep({ number, write: () => directory.hideLead(number) }),
    /** Takes the new name of a label. Tried in the same way. */
    rename: (label: LabelRename): void => addStep({ write: () => directory.renameLabel(label) }),
    /** Resolves when all that was taken is in the directory, or given up, without waiting for more to come. */
    settled: (): Promise<void> => drain.settled(),
  };
}

/** Passed over where there is no room. */
function add(state: Waiting, issue: Issue): void {
  const known = state.waiting.get(issue.number) ?? [];
  const last = known.at(-1);
  if (last?.body === issue.body && last.author === issue.author) {
    const [newer, older] = issue.updatedAt >= last.updatedAt ? [issue, last] : [last, issue];
    known[known.length - 1] = newer;
    const isKnown = known.some(({ labels }) => isDeepStrictEqual(labels, older.labels));
    if (isKnown || state.size >= WAITING_MAX) return;
    known.unshift({ ...older, body: '' });
    state.size += 1;
    return;
  }
  const { length } = issue.body;
  if (state.size >= WAITING_MAX || state.characters + length > WAITING_CHARACTERS_MAX) return;
  state.waiting.set(issue.number, [...known, issue]);
  state.size += 1;
  state.characters += length;
}

async function putSome(directory: Directory, state: Waiting, hurry: AbortSignal): Promise<void> {
  const isLast = hurry.aborted;
  const issues = takeSome(state);
  let waitMs = COMMIT_EVERY_MS;
  try {
    if (issues.length > 0) await directory.putEntries(merge(await directory.toEntries(issues)));
    await takeSteps(state);
    state.hasFailed = false;
  } catch (error) {
    if (issues.length > 0 || !state.hasFailed)
      directory.log.error(
        { issues: issues.length, ...errorFields(error) },
        'events of the tracker could not be kept',
      );
    state.hasFailed = true;
    if (isLast) state.steps.clear();
    waitMs = RETRY_AFTER_MS;
  }
  if (state.size >= ISSUES_PER_COMMIT_MAX) await setImmediate();
  else await sleepUntilAborted(directory.clock, waitMs, hurry);
}

async function takeSteps({ waiting, steps }: Waiting): Promise<void> {
  for (const step of steps) {
    const mustWait = step.number === undefined ? waiting.size > 0 : waiting.has(step.number);
    if (mustWait) continue;
    await step.write();
    steps.delete(step);
  }
}

function takeSome(state: Waiting): Issue[] {
  const taken: Issue[] = [];
  for (const [number, issues] of state.waiting) {
    if (taken.length >= ISSUES_PER_COMMIT_MAX) break;
    taken.push(...issues);
    state.waiting.delete(number);
  }
  state.size -= taken.length;
  for (const { body } of taken) state.characters -= body.length;
  return taken;
}

/** One entry for each issue: as it was last, with what it had at any time. */
function merge(entries: readonly DirectoryEntry[]): DirectoryEntry[] {
  const merged = new Map<number, DirectoryEntry>();
  for (const entry of entries) {
    const other = merged.get(entry.number);
    if (!other) merged.set(entry.number, entry);
    else {
      const newer = entry.updatedAt >= other.updatedAt ? entry : other;
      const identities = [...other.identities, ...entry.identities];
      const carried = [...new Set([...carriedOf(other), ...carriedOf(entry)])];
      merged.set(entry.number, { ...newer, identities, carried });
    }
  }
  return [...merged.values()];
}

type Shown = { number: number; updatedAt: number; labels: string };

const SHOWN = `
  SELECT number, updated_at, labels FROM lead_change
  WHERE repository_id = ${NAMED} AND number = ANY(@numbers::bigint[]) AND is_visible`;

/** Of more the next catch-up finds out. */
const SECOND_LOOKS_MAX = 200;

/**
 * The tracker dates by whole seconds and its webhooks come in any order: of two states of one second nobody can tell
 * which is newer. Who cannot read a lead any more is told at once; whether that is so the issue itself says, when no
 * replica can lag behind it any more, for while nobody follows the feed nothing else would look.
 */
function createSecondLooks({ store, clock, log }: FilledDirectory, learn: Learn) {
  const waiting = new Set<number>();
  const look = async (stopping: AbortSignal): Promise<void> => {
    const numbers = [...waiting];
    waiting.clear();
    await sleepUntilAborted(clock, REPLICA_LAG_MAX_MS, stopping);
    for (const number of numbers) {
      if (stopping.aborted) return;
      await learn(number).catch((error: unknown) =>
        log.warn({ issue: number, ...errorFields(error) }, 'an issue could not be looked at again'),
      );
    }
  };
  const drain = createDrain({ hasWork: () => waiting.size > 0, work: look });
  return {
    /** Puts what a webhook told. Where that hides a lead, and may be the older state, the tracker is asked later. */
    put: async (entries: readonly DirectoryEntry[]): Promise<void> => {
      const doubtful = await findDoubtful(store, entries);
      await putEntries(store, entries);
      for (const number of doubtful.slice(0, SECOND_LOOKS_MAX - waiting.size)) waiting.add(number);
      drain.start();
    },
    /** Gives up what waits. */
    stop: (): Promise<void> => {
      waiting.clear();
      return drain.settled();
    },
  };
}

/** Numbers of leads that somebody can read, and not by the entry, which is of the same second. */
async function findDoubtful(
  { db, repository: name }: DirectoryStore,
  entries: readonly DirectoryEntry[],
): Promise<number[]> {
  const numbers = entries.map((entry) => entry.number);
  const shown = await db.all<Shown>(SHOWN, { name, numbers });
  const byNumber = new Map(shown.map((one) => [one.number, one]));
  return entries
    .filter((entry) => isDoubtful(byNumber.get(entry.number), entry))
    .map(({ number }) => number);
}

function isDoubtful(
  shown: Shown | undefined,
  { updatedAt, isReadable, labels }: DirectoryEntry,
): boolean {
  if (shown?.updatedAt !== updatedAt) return false;
  const before = JSON.parse(shown.labels) as string[];
  return !isReadable || before.some((label) => !labels.includes(label));
}

/** Bodies of a page wait until then, and can be long. */
const PAGES_WAITING_MAX = 16;

/**
 * Puts what the directory has not, or not as new: where no webhook tells of a lead, readers see it before the directory
 * does, and would go on seeing it if the tracker were away when its deletion comes.
 */
export function createReadLeads(directory: Pick<FilledDirectory, 'store' | 'toEntries' | 'log'>) {
  const { store, toEntries, log } = directory;
  let waiting = 0;
  const inOrder = createQueue();
  const put = async (issues: readonly Issue[]): Promise<void> => {
    try {
      const known = await readUpdatedAts(store, numbersOf(issues));
      const news = issues.filter((issue) => (known.get(issue.number) ?? -1) < issue.updatedAt);
      const entries = await toEntries(news);
      if (entries.length > 0) await putRead(store, entries);
    } catch (error) {
      log.warn(errorFields(error), 'leads that were read could not be kept');
    } finally {
      waiting -= 1;
    }
  };
  return {
    /** Never waits and never throws. What is too much, or what the store fails, is left to the next catch-up. */
    take: (issues: readonly Issue[]): void => {
      if (waiting >= PAGES_WAITING_MAX) return;
      waiting += 1;
      void inOrder(() => put(issues));
    },
    /** Resolves when all that was taken is in the directory, or given up. */
    settled: (): Promise<void> => inOrder(async () => undefined),
  };
}

import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

import { type Clock, SECOND, sleepUntilAborted } from '#shared/clock.ts';
import { errorFields, type Log } from '#shared/log.ts';
import { createDrain } from '#shared/resilience/drain.ts';

import { carriedOf } from '../model/labels.ts';
import type { DirectoryEntry, LabelRename } from './lead-directory.ts';
import type { Issue } from '../lead-tracker.ts';

/** Brings what the tracker's webhook reports into the lead directory, many issues to a commit. */
type DirectoryInbox = {
  /**
   * Never waits and never throws. `isMoved`: it is in another repository now. What the store fails,
   * or is too much, is left to the next catch-up.
   */
  take(issue: Issue, options?: { isMoved?: boolean }): void;
  /** Hides an issue that was deleted: readers know it no more. */
  hide(number: number): void;
  /** Takes the new name of a label. */
  rename(label: LabelRename): void;
  /** Resolves when all that was taken is in the directory, without waiting for more to come. */
  settled(): Promise<void>;
};

/** The directory, as the inbox writes to it. */
type Directory = {
  putEntries(entries: readonly DirectoryEntry[]): Promise<void>;
  noteMoved(number: number): Promise<void>;
  renameLabel(rename: LabelRename): Promise<void>;
  hideLead(number: number): Promise<void>;
  toEntries: (issues: readonly Issue[]) => Promise<DirectoryEntry[]>;
  clock: Clock;
  log: Log;
};

/** After a commit what comes within this time shares the next one. */
const COMMIT_EVERY_MS = SECOND / 25;
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
  /** Numbers of those that went to another repository. */
  moved: Set<number>;
  /** Numbers of those that were deleted. */
  gone: Set<number>;
  /** Written behind the issues that wait, which may have the old name. */
  renames: LabelRename[];
};

/** The first issue after a quiet time is stored at once. */
export function createDirectoryInbox(directory: Directory): DirectoryInbox {
  const state: Waiting = {
    waiting: new Map(),
    size: 0,
    characters: 0,
    moved: new Set(),
    gone: new Set(),
    renames: [],
  };
  const drain = createDrain({
    hasWork: () => state.size > 0 || state.renames.length > 0 || state.gone.size > 0,
    work: (hurry) => putSome(directory, state, hurry),
  });
  return {
    take: (issue, { isMoved = false } = {}) => {
      if (!add(state, issue)) return;
      if (isMoved) state.moved.add(issue.number);
      drain.start();
    },
    hide: (number) => {
      state.gone.add(number);
      drain.start();
    },
    rename: (label) => {
      state.renames.push(label);
      drain.start();
    },
    settled: () => drain.settled(),
  };
}

/** False when there is no room. */
function add(state: Waiting, issue: Issue): boolean {
  const known = state.waiting.get(issue.number) ?? [];
  const last = known.at(-1);
  if (last?.body === issue.body && last.author === issue.author) {
    const [newer, older] = issue.updatedAt >= last.updatedAt ? [issue, last] : [last, issue];
    known[known.length - 1] = newer;
    const isKnown = known.some(({ labels }) => isDeepStrictEqual(labels, older.labels));
    if (isKnown || state.size >= WAITING_MAX) return true;
    known.unshift({ ...older, body: '' });
    state.size += 1;
    return true;
  }
  const { length } = issue.body;
  if (state.size >= WAITING_MAX || state.characters + length > WAITING_CHARACTERS_MAX) return false;
  state.waiting.set(issue.number, [...known, issue]);
  state.size += 1;
  state.characters += length;
  return true;
}

async function putSome(directory: Directory, state: Waiting, hurry: AbortSignal): Promise<void> {
  const issues = takeSome(state);
  try {
    if (issues.length > 0) await directory.putEntries(merge(await directory.toEntries(issues)));
    for (const { number } of issues)
      if (state.moved.delete(number)) await directory.noteMoved(number);
    const gone = [...state.gone];
    state.gone.clear();
    for (const number of gone) await directory.hideLead(number);
    const renames = state.size === 0 ? state.renames.splice(0) : [];
    for (const label of renames) await directory.renameLabel(label);
  } catch (error) {
    directory.log.error(
      { issues: issues.length, ...errorFields(error) },
      'events of the tracker could not be kept',
    );
  }
  if (state.size >= ISSUES_PER_COMMIT_MAX) await setImmediate();
  else await sleepUntilAborted(directory.clock, COMMIT_EVERY_MS, hurry);
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

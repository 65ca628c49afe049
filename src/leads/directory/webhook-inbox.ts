import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Clock, SECOND, sleepUntilAborted } from '#shared/clock.ts';
import { errorFields, type Log } from '#shared/log.ts';
import { createDrain } from '#shared/resilience/background.ts';
import type { Issue } from '../lead-tracker.ts';
import { carriedOf, type DirectoryEntry, type LabelRename } from './lead-directory.ts';

/** Writes of what the webhook tells. */
type WebhookInboxOptions = {
  toEntries: (issues: readonly Issue[]) => Promise<DirectoryEntry[]>;
  putEntries(entries: readonly DirectoryEntry[]): Promise<void>;
  noteMoved(number: number): Promise<void>;
  renameLabel(rename: LabelRename): Promise<void>;
  hideLead(number: number): Promise<void>;
  clock: Clock;
  log: Log;
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

export type WebhookInbox = ReturnType<typeof createWebhookInbox>;

/**
 * Brings what the tracker's webhook reports into the lead directory, many issues to a commit: the first after a quiet
 * time at once.
 */
export function createWebhookInbox(options: WebhookInboxOptions) {
  const state: Waiting = {
    waiting: new Map(),
    size: 0,
    characters: 0,
    steps: new Set(),
    hasFailed: false,
  };
  const drain = createDrain({
    hasWork: () => state.size > 0 || state.steps.size > 0,
    work: (hurry) => putSome(options, state, hurry),
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
      if (isMoved) addStep({ number, write: () => options.noteMoved(number) });
      else drain.start();
    },
    /** Hides an issue that was deleted: readers know it no more. No catch-up would: it is tried until it is done. */
    hide: (number: number): void => addStep({ number, write: () => options.hideLead(number) }),
    /** Takes the new name of a label. Tried in the same way. */
    rename: (label: LabelRename): void => addStep({ write: () => options.renameLabel(label) }),
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

async function putSome(
  options: WebhookInboxOptions,
  state: Waiting,
  hurry: AbortSignal,
): Promise<void> {
  const isLast = hurry.aborted;
  const issues = takeSome(state);
  let waitMs = COMMIT_EVERY_MS;
  try {
    if (issues.length > 0) await options.putEntries(merge(await options.toEntries(issues)));
    await takeSteps(state);
    state.hasFailed = false;
  } catch (error) {
    if (issues.length > 0 || !state.hasFailed)
      options.log.error(
        { issues: issues.length, ...errorFields(error) },
        'events of the tracker could not be kept',
      );
    state.hasFailed = true;
    if (isLast) state.steps.clear();
    waitMs = RETRY_AFTER_MS;
  }
  if (state.size >= ISSUES_PER_COMMIT_MAX) await setImmediate();
  else await sleepUntilAborted(options.clock, waitMs, hurry);
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

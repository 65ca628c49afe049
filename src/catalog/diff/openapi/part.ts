import type { At, Direction, Entry, Verdict, Way } from './comparison.ts';

/** What clients rely on, and what that consists of: paths of operations, those of parameters, a body, responses. */
export type Part = {
  label: string;
  /** What it is known by, if not its label, and what takes its place. */
  key?: string;
  also?: string[];
  at: At;
  direction: Direction;
  /** What it means that it is there now, and that it is not any more; nothing by default. */
  added?: Verdict['impact'];
  removed?: Verdict['impact'];
  isRequired?: boolean;
  /** How a value of it is written, and how a list of values. */
  style?: { of: string; ofLists: string; canBeList: () => boolean };
  /** As it travels. */
  way?: Way;
  schema?: Entry;
  /** All that it is read from: where that is alike, so is the part. */
  whole?: object;
  /** What a caller has to come with, one of the sets being enough. */
  needs?: { at: At; sets: Set<string>[] };
  parts?: () => Part[];
};

/** Of a response everything counts. */
export const PROMISED = { direction: 'response', removed: 'breaking' } as const;

import type { At, Direction, Entry, Verdict, Way } from './comparison.ts';

/** A part of an interface that clients rely on, with its own: paths of operations, those of parameters, a body, responses. */
export type Part = {
  label: string;
  /** Its name for comparing, if not its label. */
  key?: string;
  /** Keys of parts that take its place. */
  also?: string[];
  at: At;
  direction: Direction;
  /** Impact of its coming, and of its going; none by default. */
  added?: Verdict['impact'];
  removed?: Verdict['impact'];
  isRequired?: boolean;
  /** The form of a value of it, and of a list of values: whether that is the parameter several times. */
  style?: { of: string; ofLists: string; isRepeated: boolean; canBeList: () => boolean };
  /** As it travels. */
  way?: Way;
  schema?: Entry;
  /** All that it is read from: where that is alike, so is the part. */
  whole?: object;
  /** Credentials that a caller has to come with, one of the sets being enough. */
  needs?: { at: At; sets: Set<string>[] };
  parts?: () => Part[];
};

/** Of a response everything counts. */
export const PROMISED = { direction: 'response', removed: 'breaking' } as const;

import { describeDifference } from '../changes.ts';
import type { At, Comparison, Entry, Pair, Shape, Verdict } from './comparison.ts';

/** Two shapes: what lies in `inner` must lie in `outer`. */
export type Shapes = {
  comparison: Comparison;
  pair: Pair;
  isRequest: boolean;
  /** True when both stand at one place. `home`: the place that a verdict is about. */
  isShared: boolean;
  home: At;
  before: Shape;
  after: Shape;
  inner: Shape;
  outer: Shape;
  /** True when nothing breaks where the one of a pair takes the place of the other. */
  isFit: (pair: Pair) => boolean;
};

/** A break by a word of a schema, or by something below it. */
export type Breakage = {
  word: string;
  below?: [name: string, entry: Entry];
  kind?: Verdict['kind'];
  impact?: Verdict['impact'];
  text: string;
};

/** The break by another value of a word. */
export function changeOf({ before, after }: Shapes, word: string, what: string): Breakage {
  const [was, is] = [before, after].map(({ words }) => words.get(word)?.value);
  const change = describeDifference({ kind: 'changed', before: was, after: is });
  return { word, text: `\`${word}\` ${what}: ${change}` };
}

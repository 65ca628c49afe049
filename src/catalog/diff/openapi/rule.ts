import { textOf } from '../changes.ts';
import type { At, Comparison, Entry, Pair, Shape, Verdict } from './comparison.ts';

/** Two shapes: what lies in `inner` must lie in `outer`. */
export type Shapes = {
  comparison: Comparison;
  pair: Pair;
  isRequest: boolean;
  /** Whether both stand at one place, and where what is said about them is said. */
  isShared: boolean;
  home: At;
  before: Shape;
  after: Shape;
  inner: Shape;
  outer: Shape;
  /** Whether nothing breaks where the one of a pair takes the place of the other. */
  isFit: (pair: Pair) => boolean;
};

/** What breaks: of a word, or of what stands below it. */
export type Breakage = {
  word: string;
  below?: [name: string, entry: Entry];
  kind?: Verdict['kind'];
  impact?: Verdict['impact'];
  text: string;
};

/** That a word has another value now. */
export function changeOf({ before, after }: Shapes, word: string, what: string): Breakage {
  const [was, is] = [before, after].map(({ words }) => words.get(word)?.value);
  const change = textOf({ kind: 'changed', before: was, after: is });
  return { word, text: `\`${word}\` ${what}: ${change}` };
}

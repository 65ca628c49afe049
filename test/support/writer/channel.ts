/** The way from `disturb.ts` to the thread of `disturbed.ts`. */

/** In place of a pragma: the thread ends. */
export const CRASH = 'crash';

export type Disturbance = { pragma: string };

export function channelOf(storePath: string): string {
  return `disturb ${storePath}`;
}

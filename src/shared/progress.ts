/**
 * Told while a long work goes on: how many of how many steps are done, what the steps are, in the plural,
 * and what is at hand. `total` 0: nobody knows yet.
 */
export type OnProgress = (done: number, total: number, unit: string, atHand?: string) => void;

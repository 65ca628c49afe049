/** Told while a long work goes on: how many of how many steps are done, and what the steps are. */
export type OnProgress = (done: number, total: number, label: string) => void;

/** Writes one artifact with one version in two transactions. */
export type RawWriter = (id: string) => Promise<void>;

/** Writers below the catalog, on a migrated store. */
export type RawWriters = {
  /** What the catalog writes, without a rule, a check or an answer. */
  sameRows: RawWriter;
  /** One write in each transaction: no index, no search, no audit. */
  bareRow: RawWriter;
  close(): Promise<void>;
};

/** How much of what happened a store keeps. */

/** So many steps of an event are kept, the newest. */
export const STEPS_MAX = 50;
/** The last merges of people that a store keeps, for as long as the directory's hashes are good. */
export const MERGES_MAX = 1_000_000;

/**
 * Function of the thread that validates specs. It loads its validator before it begins: the time that this
 * takes on a busy machine is not the first spec's.
 */
export { findingsOf as check } from '#catalog/spec/validation/spec-check.ts';

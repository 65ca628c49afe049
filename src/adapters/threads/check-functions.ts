/**
 * What the thread that validates specs runs. It loads its validator before it begins: the time that this
 * takes on a busy machine is not the first spec's.
 */
import '#catalog/spec/validation/asyncapi-schema.ts';
import '#catalog/spec/validation/openapi-schema.ts';

export { findingsOf as check } from '#catalog/spec/validation/spec-check.ts';

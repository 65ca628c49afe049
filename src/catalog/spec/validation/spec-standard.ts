import type { SchemaCheck } from './schema-errors.ts';

/** A standard that documents say they follow, with the schemas that are published for it. */
export type SpecStandard = {
  /** Which of the schemas describes a document; undefined when none does. */
  versionOf(document: Readonly<Record<string, unknown>>): string | undefined;
  /** The member that names the version. */
  versionKey(document: Readonly<Record<string, unknown>>): string;
  /** Which versions are known, for people. */
  known: string;
  /** Loads the validator with the first call, and each schema with the first document of its version. */
  loadCheck(version: string): Promise<SchemaCheck>;
};

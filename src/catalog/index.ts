import type { SpecDiffer } from './diff/diff-specs.ts';
import type { SpecChecker } from './spec/finding.ts';
import { createSpecJobs, type SpecJobs } from './spec/spec-jobs.ts';
import { coreSources, coreTypes } from './version/artifact.ts';
import type { Words } from './version/content-check.ts';
import type { Catalog } from './version/version-view.ts';

/** Rules of the catalog as the configuration has them; `types` and `sources` are those that it adds. */
export type CatalogRules = Words &
  Pick<Catalog, 'findings' | 'compatibility'> & {
    /** Workspaces whose published artifacts anybody may find; default none. */
    public?: readonly string[];
  };

/** `rules`: those in force; a reload may replace what it returns. */
export type CatalogOptions = Omit<
  Catalog,
  'words' | 'publicWorkspaces' | 'findings' | 'compatibility' | keyof SpecJobs
> & {
  checkSpec: SpecChecker;
  diffSpecs: SpecDiffer;
  rules: () => CatalogRules;
};

/** The one way to make the catalog, for the service, the command line and tests. */
export function createCatalog({ rules, checkSpec, diffSpecs, ...others }: CatalogOptions): Catalog {
  return {
    ...others,
    ...createSpecJobs({ checkSpec, diffSpecs }),
    get words() {
      const { types, sources } = rules();
      return { types: [...coreTypes, ...types], sources: [...coreSources, ...sources] };
    },
    get publicWorkspaces() {
      return rules().public ?? [];
    },
    get findings() {
      return rules().findings;
    },
    get compatibility() {
      return rules().compatibility;
    },
  };
}

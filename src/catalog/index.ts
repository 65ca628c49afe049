import { bindTo } from '#shared/bind.ts';
import { compareToBaseline } from './compatibility.ts';
import { diffVersions } from './diff/diff-versions.ts';
import {
  deprecateVersion,
  reinstateVersion,
  retireVersion,
  setDefault,
  sunsetProblems,
  unsetDefault,
} from './lifecycle/change-lifecycle.ts';
import { publishVersion } from './lifecycle/publish.ts';
import {
  listAudit,
  listCatalog,
  listPublished,
  listVersions,
  readSpec,
} from './reading/read-catalog.ts';
import type { SpecDiffer } from './diff/diff-specs.ts';
import type { SpecChecker } from './spec/finding.ts';
import { createSpecJobs, type SpecJobs } from './spec/spec-jobs.ts';
import { coreSources, coreTypes } from './version/artifact.ts';
import { filterProblems, problemsInBody, type Words } from './version/content-check.ts';
import {
  createVersion,
  deleteVersion,
  patchVersion,
  replaceVersion,
} from './version/write-version.ts';
import { type CatalogContext, readView } from './version/version-view.ts';

/** What the configuration says of the catalog; `types` and `sources` are those that it adds. */
export type CatalogRules = Words &
  Pick<CatalogContext, 'findings' | 'compatibility'> & {
    /** Workspaces whose published artifacts anybody may find; default none. */
    public?: readonly string[];
  };

/** What the catalog is made of. `rules`: those in force; read once for each call. */
export type CatalogOptions = Omit<
  CatalogContext,
  'words' | keyof SpecJobs | keyof Omit<CatalogRules, keyof Words>
> & {
  checkSpec: SpecChecker;
  diffSpecs: SpecDiffer;
  rules: () => CatalogRules;
};

/** The catalog's use cases. Each is documented, with the codes that it throws, where it stands. */
export type Catalog = ReturnType<typeof createCatalog>;

/** The one way to make the catalog, for the service, the command line and tests. */
export function createCatalog({ rules, checkSpec, diffSpecs, ...others }: CatalogOptions) {
  const fixed = { ...others, ...createSpecJobs({ checkSpec, diffSpecs }) };
  const context = (): CatalogContext => {
    const { types, sources, ...rest } = rules();
    const words = {
      types: [...coreTypes, ...types],
      sources: [...coreSources, ...sources],
    };
    return { ...fixed, words, ...rest };
  };
  const bound = bindTo(() => fixed);
  const byRules = bindTo(context);
  return {
    read: bindTo(() => fixed.db)(readView),
    readSpec: bound(readSpec),
    list: bound(listCatalog),
    listPublished: bound(listPublished),
    /** Workspaces whose published artifacts anybody may find. */
    publicWorkspaces: (): readonly string[] => rules().public ?? [],
    listVersions: bound(listVersions),
    listAudit: bound(listAudit),
    diff: bound(diffVersions),
    /** What a version breaks, as its publication would find. */
    compatibility: byRules(compareToBaseline),
    create: byRules(createVersion),
    replace: byRules(replaceVersion),
    patch: bound(patchVersion),
    delete: bound(deleteVersion),
    publish: byRules(publishVersion),
    deprecate: bound(deprecateVersion),
    reinstate: bound(reinstateVersion),
    retire: bound(retireVersion),
    setDefault: bound(setDefault),
    unsetDefault: bound(unsetDefault),
    /** What is wrong with the content of a body of any shape, for the caller of HTTP. */
    problemsInBody: (body: unknown) => problemsInBody(body, context().words),
    /** The types and sources that are known now. */
    words: (): Words => context().words,
    /** Whether findings of a spec stop it from being published. */
    stopsAtFindings: () => context().findings === 'block',
    /** Whether breaking changes stop it, unless they are accepted. */
    stopsAtBreaking: () => context().compatibility === 'block',
    /** What is wrong with a sunset. */
    problemsInSunset: (sunsetAt: number) => sunsetProblems(sunsetAt, fixed.clock.now()),
    /** What is wrong with the words of a list's filters. */
    problemsInFilter: (filter: unknown) => filterProblems(filter, context().words),
    /** Another number whenever the store may have changed. @throws {store-unavailable} */
    dataVersion: () => fixed.db.dataVersion(),
  };
}

import { bindTo } from '#shared/bind.ts';
import { compareToBaseline } from './compatibility.ts';
import { diffVersions } from './diff/diff-versions.ts';
import {
  changeLifecycle,
  setDefault,
  sunsetProblems,
  unsetDefault,
} from './lifecycle/change-lifecycle.ts';
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
import { type CatalogDeps, readView } from './version/version-view.ts';

/** What the configuration says of the catalog; `types` and `sources` are those that it adds. */
export type CatalogRules = Words &
  Pick<CatalogDeps, 'findings' | 'compatibility'> & {
    /** Workspaces whose published artifacts anybody may find; default none. */
    public?: readonly string[];
  };

/** What the catalog is made of. `rules`: those in force; read once for each call. */
export type CatalogPorts = Omit<
  CatalogDeps,
  'words' | keyof SpecJobs | keyof Omit<CatalogRules, keyof Words>
> & {
  checkSpec: SpecChecker;
  diffSpecs: SpecDiffer;
  rules: () => CatalogRules;
};

/** The catalog's use cases. Each is documented, with the codes that it throws, where it stands. */
export type Catalog = ReturnType<typeof createCatalog>;

/** The one way to make the catalog, for the service, the command line and tests. */
export function createCatalog({ rules, checkSpec, diffSpecs, ...others }: CatalogPorts) {
  const ports = { ...others, ...createSpecJobs({ checkSpec, diffSpecs }) };
  const deps = (): CatalogDeps => {
    const { types, sources, ...rest } = rules();
    const words = {
      types: [...coreTypes, ...types],
      sources: [...coreSources, ...sources],
    };
    return { ...ports, words, ...rest };
  };
  const bound = bindTo(() => ports);
  const byRules = bindTo(deps);
  return {
    read: bound(readView),
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
    patch: byRules(patchVersion),
    delete: byRules(deleteVersion),
    changeLifecycle: byRules(changeLifecycle),
    setDefault: byRules(setDefault),
    unsetDefault: byRules(unsetDefault),
    /** What is wrong with the content of a body of any shape, for the caller of HTTP. */
    problemsInBody: (body: unknown) => problemsInBody(body, deps().words),
    /** The types and sources that are known now. */
    words: (): Words => deps().words,
    /** Whether findings of a spec stop it from being published. */
    stopsAtFindings: () => deps().findings === 'block',
    /** Whether breaking changes stop it, unless they are accepted. */
    stopsAtBreaking: () => deps().compatibility === 'block',
    /** What is wrong with a sunset. */
    problemsInSunset: (sunsetAt: number) => sunsetProblems(sunsetAt, ports.clock.now()),
    /** What is wrong with the words of a list's filters. */
    problemsInFilter: (filter: unknown) => filterProblems(filter, deps().words),
    /** Another number whenever the store may have changed. @throws {store-unavailable} */
    dataVersion: () => ports.store.dataVersion(),
  };
}

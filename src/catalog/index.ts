import { type BaselineRequest, compareToBaseline } from './compatibility.ts';
import { type DiffRequest, diffVersions } from './diff/diff-versions.ts';
import { importFiles, type ImportRequest } from './import/import-files.ts';
import { createStoreTarget } from './import/store-target.ts';
import {
  changeLifecycle,
  type LifecycleChange,
  setDefault,
  sunsetProblems,
  unsetDefault,
} from './lifecycle/change-lifecycle.ts';
import {
  type CatalogFilters,
  listAudit,
  listCatalog,
  listVersions,
  type PageRequest,
  type Reader,
  readSpec,
} from './reading/read-catalog.ts';
import { coreSources, coreTypes } from './version/artifact.ts';
import { type Draft, filterProblems, problemsInBody, type Words } from './version/content-check.ts';
import { createVersion } from './version/create-version.ts';
import {
  deleteVersion,
  type PatchInput,
  patchVersion,
  type ReplaceInput,
  replaceVersion,
  type VersionTarget,
} from './version/edit-version.ts';
import {
  type Caller,
  type CatalogDeps,
  readView,
  type VersionQuery,
} from './version/version-view.ts';

/** What the configuration says of the catalog; `types` and `sources` are those that it adds. */
export type CatalogRules = Words & Pick<CatalogDeps, 'findings' | 'compatibility'>;

/** What the catalog is made of. `rules`: those in force; read once for each call. */
export type CatalogPorts = Omit<CatalogDeps, 'words' | keyof Omit<CatalogRules, keyof Words>> & {
  rules: () => CatalogRules;
};

/** The catalog's use cases. Each is documented, with the codes that it throws, where it stands. */
export type Catalog = ReturnType<typeof createCatalog>;

/** The one way to make the catalog, for the service, the command line and tests. */
export function createCatalog({ rules, ...ports }: CatalogPorts) {
  const deps = (): CatalogDeps => {
    const { types, sources, ...rest } = rules();
    const words = {
      types: [...coreTypes, ...types],
      sources: [...coreSources, ...sources],
    };
    return { ...ports, words, ...rest };
  };
  return {
    read: (reader: Reader, query: VersionQuery) => readView(ports, reader, query),
    readSpec: (reader: Reader, query: Parameters<typeof readSpec>[2]) =>
      readSpec(ports, reader, query),
    list: (reader: Reader, request: CatalogFilters & PageRequest) =>
      listCatalog(ports, reader, request),
    listVersions: (reader: Reader, request: PageRequest & { id: string }) =>
      listVersions(ports, reader, request),
    listAudit: (reader: Reader, request: PageRequest & { id: string }) =>
      listAudit(ports, reader, request),
    diff: (reader: Reader, request: DiffRequest) => diffVersions(ports, reader, request),
    /** What a version breaks, as its publication would find. */
    compatibility: (reader: Reader, request: BaselineRequest) =>
      compareToBaseline(deps(), reader, request),
    create: (caller: Caller, draft: Draft) => createVersion(deps(), caller, draft),
    replace: (caller: Caller, input: ReplaceInput) => replaceVersion(deps(), caller, input),
    patch: (caller: Caller, input: PatchInput) => patchVersion(deps(), caller, input),
    delete: (caller: Caller, target: VersionTarget) => deleteVersion(deps(), caller, target),
    changeLifecycle: (caller: Caller, change: LifecycleChange) =>
      changeLifecycle(deps(), caller, change),
    setDefault: (caller: Caller, target: Parameters<typeof setDefault>[2]) =>
      setDefault(deps(), caller, target),
    unsetDefault: (caller: Caller, target: Parameters<typeof unsetDefault>[2]) =>
      unsetDefault(deps(), caller, target),
    importFiles: (caller: Caller, request: ImportRequest) => {
      const given = deps();
      return importFiles(given, createStoreTarget(given, caller), request);
    },
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

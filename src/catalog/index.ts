import { importFiles, type ImportRequest } from './import/import-files.ts';
import { changeLifecycle, setDefault, type LifecycleChange } from './lifecycle/change-lifecycle.ts';
import { coreSources, coreTypes } from './version/artifact.ts';
import { filterProblems, problemsInBody, type Draft, type Words } from './version/content-check.ts';
import { createVersion } from './version/create-version.ts';
import {
  deleteVersion,
  patchVersion,
  replaceVersion,
  type PatchInput,
  type ReplaceInput,
  type VersionTarget,
} from './version/edit-version.ts';
import {
  listAudit,
  listCatalog,
  listVersions,
  type CatalogFilters,
  type PageRequest,
  type Reader,
} from './version/read-catalog.ts';
import {
  readView,
  type Caller,
  type CatalogDeps,
  type VersionQuery,
} from './version/version-view.ts';

/** What the catalog is made of. `words`: the types and sources that the configuration adds. */
export type CatalogPorts = Omit<CatalogDeps, 'words'> & { words: Words };

/** The catalog's use cases. Each is documented, with the codes that it throws, where it stands. */
export type Catalog = ReturnType<typeof createCatalog>;

/** The one way to make the catalog, for the service, the command line and tests. */
export function createCatalog({ words, ...ports }: CatalogPorts) {
  const deps: CatalogDeps = {
    ...ports,
    words: {
      types: [...coreTypes, ...words.types],
      sources: [...coreSources, ...words.sources],
    },
  };
  return {
    read: (reader: Reader, query: VersionQuery) => readView(deps, reader, query),
    list: (reader: Reader, request: CatalogFilters & PageRequest) =>
      listCatalog(deps, reader, request),
    listVersions: (reader: Reader, request: PageRequest & { id: string }) =>
      listVersions(deps, reader, request),
    listAudit: (reader: Reader, request: PageRequest & { id: string }) =>
      listAudit(deps, reader, request),
    create: (caller: Caller, draft: Draft) => createVersion(deps, caller, draft),
    replace: (caller: Caller, input: ReplaceInput) => replaceVersion(deps, caller, input),
    patch: (caller: Caller, input: PatchInput) => patchVersion(deps, caller, input),
    delete: (caller: Caller, target: VersionTarget) => deleteVersion(deps, caller, target),
    changeLifecycle: (caller: Caller, change: LifecycleChange) =>
      changeLifecycle(deps, caller, change),
    setDefault: (caller: Caller, target: Parameters<typeof setDefault>[2]) =>
      setDefault(deps, caller, target),
    importFiles: (caller: Caller, request: ImportRequest) => importFiles(deps, caller, request),
    /** What is wrong with the content of a body of any shape, for the caller of HTTP. */
    problemsInBody: (body: unknown) => problemsInBody(body, deps.words),
    /** What is wrong with the words of a list's filters. */
    problemsInFilter: (filter: unknown) => filterProblems(filter, deps.words),
    /** Another number whenever the store may have changed. @throws {store-unavailable} */
    version: () => deps.store.version(),
  };
}

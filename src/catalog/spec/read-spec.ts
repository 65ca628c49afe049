import { TrackportError } from '#shared/errors.ts';
import type { VersionRef } from '../artifact-store.ts';
import {
  type Caller,
  type CatalogDeps,
  readView,
  type VersionView,
} from '../version/version-view.ts';
import type { SpecFormat } from './spec-yaml.ts';

/** The spec of one version as a text, with the version that it is of. */
export type SpecView = { view: VersionView; format: SpecFormat; text: string };

/**
 * Reads the spec alone; without `version`, of the version that a read returns. JSON is the text that is
 * stored, and comes also in the place of YAML that would be longer than 16 Mi characters.
 * @throws {artifact-not-found} @throws {no-published-version}
 * @throws {not-found} when the version has no spec @throws {overloaded}
 */
export async function readSpec(
  deps: Pick<CatalogDeps, 'store' | 'renderSpecYaml'>,
  reader: Pick<Caller, 'workspaceId' | 'signal'>,
  { format, ...ref }: VersionRef & { format: SpecFormat },
): Promise<SpecView> {
  const view = await readView(deps, reader, { ...ref, withSpec: true });
  const { record, specText } = view;
  if (specText === undefined)
    throw new TrackportError('not-found', { detail: `Version ${record.version} has no spec.` });
  const yaml = format === 'yaml' ? await deps.renderSpecYaml(specText, reader.signal) : undefined;
  return yaml === undefined
    ? { view, format: 'json', text: specText }
    : { view, format: 'yaml', text: yaml };
}

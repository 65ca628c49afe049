/** What all pages and actions about one version share. */
import { z } from 'zod';
import type { Sessions } from '#access/sessions/sessions.ts';
import type { Catalog } from '#catalog/index.ts';
import type { ReadSpecText } from '#catalog/spec/spec-text.ts';
import type { VersionRecord } from '#catalog/version/artifact.ts';
import { entityTagOf, type Precondition } from '#catalog/version/entity-tag.ts';
import { type Caller, taggedOf, type VersionView } from '#catalog/version/version-view.ts';
import type { Clock } from '#shared/clock.ts';
import type { ActionRequest, ActionResult } from '../../routes/route-types.ts';
import { artifactPath, CATALOG_PATH } from './query.ts';

export type CatalogPagesDeps = {
  catalog: Catalog;
  /** Specs as people write them, JSON or YAML. */
  readSpecText: ReadSpecText;
  /** Hold what is too long for a form that came back. */
  sessions: Pick<Sessions, 'hold' | 'held'>;
  clock: Pick<Clock, 'now'>;
};

export const VERSION_PATH = `${CATALOG_PATH}/:id/versions/:version`;
const params = z.object({ id: z.string(), version: z.string() });
export type VersionName = z.output<typeof params>;
export const writing = { scope: 'catalog:write', params } as const;
export const publishing = { scope: 'catalog:publish', params } as const;

type Asking = Pick<ActionRequest<unknown, unknown>, 'person' | 'origin'>;

export const callerOf = ({ person, origin }: Asking): Caller => ({
  workspaceId: person.workspaceId,
  ...origin,
});

/** What a form says of the version that its page showed: the entity tag that the action asks for. */
export const seen = z.string();
export const seenOf = (view: VersionView): string => entityTagOf(taggedOf(view));
export const asSeen = (tag: string): Precondition => ({ kind: 'tags', tags: [tag] });

export function shown({ record }: VersionView, notice: string): ActionResult {
  return { location: artifactPath(record.id, { version: record.version }), notice };
}

/** Where a page below a version stands. */
export function placeOf({ id, title, version }: VersionRecord) {
  const crumbs = [
    { href: CATALOG_PATH, text: 'Catalog' },
    { href: artifactPath(id, { version }), text: title },
  ];
  return { section: 'catalog', crumbs } as const;
}

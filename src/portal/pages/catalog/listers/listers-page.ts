import { z } from 'zod';
import { cursorParameter } from '../../../address.ts';
import { fitPage, shareOf } from '../../../fit-page.ts';
import type { PortalPage } from '../../../page.ts';
import type { PortalPerson } from '../../../person.ts';
import type { CatalogPagesDeps } from '../deps.ts';
import { artifactPath, CATALOG_PATH } from '../query.ts';
import { listersView } from './listers-view.ts';

const PAGE_LISTERS = 50;

export const listersQuery = z.strictObject({ cursor: cursorParameter });

type Deps = Pick<CatalogPagesDeps, 'catalog'>;
type Given = { person: PortalPerson; id: string; query: z.output<typeof listersQuery> };

/** The page of all who list one artifact. */
export function listersPage(deps: Deps, given: Given): Promise<PortalPage> {
  return fitPage((share) => makePage(deps, given, shareOf(PAGE_LISTERS, share)));
}

async function makePage(
  { catalog }: Deps,
  { person: { workspaceId }, id, query: { cursor } }: Given,
  limit: number,
): Promise<PortalPage> {
  const page = { id, limit, ...(cursor !== undefined && { cursor }) };
  const listers = await catalog.listListers({ workspaceId }, page);
  return {
    title: `Who lists ${id}`,
    section: 'catalog',
    crumbs: [
      { href: CATALOG_PATH, text: 'Catalog' },
      { href: artifactPath(id), text: id },
    ],
    body: listersView(id, listers, cursor),
  };
}

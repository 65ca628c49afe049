import { z } from 'zod';
import { cursorParameter } from '../../../address.ts';
import type { PortalPage } from '../../../page.ts';
import type { PortalPerson } from '../../../person.ts';
import type { CatalogPagesDeps } from '../deps.ts';
import { artifactPath, CATALOG_PATH } from '../query.ts';
import { listersView } from './listers-view.ts';

const PAGE_LISTERS = 50;

export const listersQuery = z.strictObject({ cursor: cursorParameter });

type Given = { person: PortalPerson; id: string; query: z.output<typeof listersQuery> };

/** The page of all who list one artifact. */
export async function listersPage(
  { catalog }: Pick<CatalogPagesDeps, 'catalog'>,
  { person: { workspaceId }, id, query: { cursor } }: Given,
): Promise<PortalPage> {
  const page = { id, limit: PAGE_LISTERS, ...(cursor !== undefined && { cursor }) };
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

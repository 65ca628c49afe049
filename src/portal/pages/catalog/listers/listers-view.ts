import type { Lister } from '#catalog/artifact-store.ts';
import type { Page } from '#catalog/reading/read-catalog.ts';
import { shareOf } from '../../../fit-page.ts';
import { html } from '../../../html.ts';
import type { Html } from '../../../html.ts';
import { body, card, empty, list, plainCard, row } from '../../../shell/card.ts';
import { code, foreign, link, note } from '../../../shell/parts.ts';
import { pager, table } from '../../../shell/table.ts';
import { count } from '../../../shell/times.ts';
import { artifactPath, listersPath } from '../query.ts';
import { lifecycleBadge } from '../words.ts';

/** So many stand on another page; all have a page of their own. */
export const LISTERS_SHOWN = 10;

/** Whom it concerns that a version ends. */
export function whoListsIt(id: string, given: Page<Lister>, share: number): Html {
  const listers = some(given, share);
  return html`<div>
    <h2>Who lists it</h2>
    ${listers.items.length === 0 ? html`<p>No other artifact.</p>` : items(listers.items)}
    ${rest(id, listers)}
  </div>`;
}

/** The same beside an artifact; nothing where nobody does. */
export function listersCard(id: string, given: Page<Lister>, share: number): Html | undefined {
  const listers = some(given, share);
  if (listers.items.length === 0) return undefined;
  return card(
    { id: 'h-listers', heading: 'Who lists it' },
    body(items(listers.items), rest(id, listers)),
  );
}

function some({ items: all, pagination }: Page<Lister>, share: number): Page<Lister> {
  const shown = all.slice(0, shareOf(LISTERS_SHOWN, share));
  return { items: shown, pagination: { hasMore: pagination.hasMore || shown.length < all.length } };
}

function items(listers: readonly Lister[]): Html {
  return list(
    ...listers.map(
      ({ id, version, title, type, owner, lifecycle }) =>
        html`${link({ href: artifactPath(id), text: foreign(title, 80) })} ${version}, ${type} of
        ${foreign(owner, 60)} ${lifecycle !== 'PUBLISHED' && lifecycleBadge(lifecycle)}`,
    ),
  );
}

function rest(id: string, { pagination }: Page<Lister>): Html | false {
  return (
    pagination.hasMore && row(note('And more.'), link({ href: listersPath(id), text: 'Show all' }))
  );
}

/** All who list an artifact, page by page. */
export function listersView(id: string, listers: Page<Lister>, cursor?: string): Html {
  const { items: rows, pagination } = listers;
  if (rows.length === 0)
    return empty({
      id: 'no-listers',
      heading: 'Nobody lists it',
      text: 'An artifact lists another one as a member, or as a GROUP whose path it lies under. Only default versions count.',
      next: link({ href: artifactPath(id), text: 'Back to the artifact', look: 'button' }),
    });
  return plainCard(
    table<Lister>({
      caption: 'Artifacts that list it, newest first, each as its default version',
      rows,
      columns: [
        {
          label: 'Artifact',
          cell: (one) =>
            html`${link({ href: artifactPath(one.id), text: foreign(one.title, 120) })}${note(code(one.id))}`,
        },
        { label: 'Type', cell: ({ type }) => type },
        { label: 'Version', cell: ({ version }) => code(version) },
        { label: 'Lifecycle', cell: ({ lifecycle }) => lifecycleBadge(lifecycle) },
        { label: 'Owner', cell: ({ owner }) => foreign(owner, 60) },
      ],
    }),
    pager({
      summary: `${count(rows.length)} on this page, newest first`,
      ...(cursor !== undefined && { newest: listersPath(id) }),
      ...(pagination.nextCursor !== undefined && {
        older: listersPath(id, pagination.nextCursor),
      }),
    }),
  );
}

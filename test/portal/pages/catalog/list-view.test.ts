import { describe, expect, test } from 'vitest';
import { type CatalogFound, catalogListView } from '#portal/pages/catalog/routes.ts';
import type { CatalogQuery } from '#portal/pages/catalog/names.ts';
import { flat, viewer } from '../../shell/support.ts';
import { versionOf } from './support.ts';

const render = ({
  query = {},
  ...found
}: Partial<CatalogFound & { query: CatalogQuery }> = {}): string =>
  flat(
    catalogListView(
      {
        items: [versionOf()],
        pagination: { hasMore: false },
        words: { types: ['API', 'GROUP'], sources: ['GIT'] },
        mayWrite: true,
        ...found,
      },
      { query, typed: {}, problems: [], viewer },
    ),
  );

describe('the list of the catalog', () => {
  test('names each artifact with its version, state, owner and group', () => {
    const rows = render({ items: [versionOf({ groupPath: 'sales/leads' })] });
    expect(rows).toContain('<a href="/portal/catalog/lead-intake"><bdi>Lead intake API</bdi></a>');
    expect(rows).toContain('<code>2.3.0</code>'.replaceAll('.', '.<wbr />'));
    expect(rows).toContain('<span class="badge" data-s="ok">Published</span>');
    expect(rows).toContain('team-intake');
    expect(rows).toContain('sales/<wbr />leads');
  });

  test('says which version is about to end, and which draft has findings', () => {
    const sunsetAt = Date.parse('2027-03-01T00:00:00Z');
    const finding = { pointer: '#/spec', code: 'x', detail: 'x' };
    const rows = render({
      items: [
        versionOf({ lifecycle: 'DEPRECATED', sunsetAt }),
        versionOf({ lifecycle: 'DRAFT', findings: [finding, finding] }),
      ],
    });
    expect(rows).toMatch(/Deprecated.*Sunset.*1 Mar 2027/);
    expect(rows).toMatch(/Draft.*2 findings/);
  });

  test('of every version leads to that version', () => {
    expect(render({ query: { versions: 'all' } })).toContain(
      'href="/portal/catalog/lead-intake?version=2.3.0"',
    );
  });

  test('says what to do when it is empty, to those who may', () => {
    const nothing = { items: [] };
    expect(render(nothing)).toContain('href="/portal/catalog/-/new"');
    expect(render({ ...nothing, mayWrite: false })).not.toContain('/-/new');
    expect(render({ ...nothing, query: { q: 'x' } })).toContain('Show all');
  });

  test('cuts long texts', () => {
    const long = 'x'.repeat(64_000);
    const lengthy = versionOf({ title: long, owner: long, groupPath: long });
    expect(render({ items: [lengthy] }).length).toBeLessThan(10_000);
  });
});

import { describe, expect, test } from 'vitest';
import {
  type CatalogFound,
  catalogListView,
  type CatalogQuery,
} from '#portal/pages/catalog/catalog-list.ts';
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
        findings: new Map(),
        pagination: { hasMore: false },
        words: { types: ['API', 'GROUP'], sources: ['GIT'] },
        mayWrite: true,
        ...found,
      },
      { query, typed: {}, problems: [], viewer },
    ),
  );

describe('the list of the catalog', () => {
  test('cuts long texts', () => {
    const long = 'x'.repeat(64_000);
    const lengthy = versionOf({ title: long, owner: long, groupPath: long });
    expect(render({ items: [lengthy] }).length).toBeLessThan(10_000);
  });
});

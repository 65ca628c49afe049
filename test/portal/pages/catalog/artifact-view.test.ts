import type { VersionView } from '#catalog/version/artifact.ts';
import { describe, expect, test } from 'vitest';
import { artifactView } from '#portal/pages/catalog/artifact-page.ts';
import type { ShownArtifact } from '#portal/pages/catalog/artifact-cards.ts';
import { excerptOf } from '#portal/shell/elements.ts';
import { DAY } from '#shared/clock.ts';
import { flat, person, viewer } from '../../shell/support.ts';
import { versionOf } from './support.ts';

const everything = [...person.scopes, 'catalog:write', 'catalog:publish'];

function viewOf(facts: Partial<VersionView> = {}): VersionView {
  const counts = { versions: 1, members: 0 };
  return { record: versionOf(), counts, isSetDefault: false, ...facts };
}

const render = (facts: Partial<ShownArtifact> = {}): string =>
  flat(
    artifactView(
      {
        person: { ...person, scopes: everything },
        shown: viewOf(),
        versions: [versionOf()],
        findings: new Map(),
        pagination: { hasMore: false },
        defaultVersion: '2.3.0',
        entries: [],
        usage: { items: [], isTruncated: false },
        ...facts,
      },
      viewer,
    ),
  );

describe('an artifact', () => {
  test('says which version is the default, and what each one’s state allows', () => {
    const page = render({
      versions: [
        versionOf({ version: '3', lifecycle: 'DRAFT' }),
        versionOf(),
        versionOf({ version: '1', lifecycle: 'DEPRECATED', deprecatedAt: viewer.nowMs - DAY }),
        versionOf({ version: '0', lifecycle: 'RETIRED' }),
      ],
    });
    expect(page).toMatch(/2\.<wbr \/>3\.<wbr \/>0<\/code><\/a><span class="tag">default<\/span>/);
    const below = Array.from(page.matchAll(/versions\/([\w.]+)\/(\w+)"/g), ([, of, what]) => [
      of,
      what,
    ]);
    expect(below).toEqual([
      ['3', 'publish'],
      ['3', 'edit'],
      ['3', 'delete'],
      ['2.3.0', 'deprecate'],
      ['2.3.0', 'edit'],
      ['1', 'deprecate'],
      ['1', 'retire'],
      ['1', 'edit'],
      ['1', 'reinstate'],
      ['1', 'default'],
    ]);
  });

  test('offers nothing that the person may not do', () => {
    const versions = [versionOf({ lifecycle: 'DRAFT' }), versionOf({ lifecycle: 'DEPRECATED' })];
    const seen = (scopes: string[]) => render({ person: { ...person, scopes }, versions });
    expect(seen(['catalog:read'])).not.toContain('/versions/');
    expect(seen(['catalog:read', 'catalog:write'])).not.toMatch(/\/(publish|retire|reinstate)"/);
    expect(seen(['catalog:read', 'catalog:publish'])).not.toMatch(/\/(edit|delete)"/);
  });

  test('stays small whatever is in it', () => {
    const member = { id: 'a', type: 'API', lifecycle: 'DRAFT' } as const;
    const long = 'x'.repeat(64_000);
    const big = viewOf({
      record: versionOf({
        description: long,
        owner: long,
        findings: Array.from({ length: 100 }, () => ({ pointer: long, code: 'x', detail: long })),
      }),
      members: Array.from({ length: 1000 }, () => ({ ...member, title: long })),
      specText: JSON.stringify({ a: long }),
    });
    const versions = Array.from({ length: 25 }, (_, at) => versionOf({ version: `1.${at}.0` }));
    expect(render({ shown: big, versions }).length).toBeLessThan(64_000);
  });
});

describe('the excerpt of a spec', () => {
  test('has the members and elements of compact JSON below each other', () => {
    const spec = { a: 'x,{"}\\', b: [1, { c: [] }, {}], d: { e: null } };
    expect(excerptOf(JSON.stringify(spec))).toEqual({
      text: JSON.stringify(spec, null, 2),
      isCut: false,
    });
  });

  test('is cut by lines and by characters, also within a text', () => {
    const many = excerptOf(JSON.stringify(Array.from({ length: 100 }, (_, at) => at)));
    expect(many.text.split('\n')).toHaveLength(60);
    expect(many.isCut).toBe(true);
    const long = excerptOf(JSON.stringify({ a: 'x'.repeat(5_000_000), b: 1 }));
    expect(long.text.length).toBeLessThan(7_000);
    expect(long.isCut).toBe(true);
  });
});

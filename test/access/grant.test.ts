import { describe, expect, test } from 'vitest';
import { grantedLabels, grantedWorkspace, parseGrants } from '#access/grant.ts';

const forbidden = expect.objectContaining({ code: 'insufficient-scope' });

describe('what is granted', () => {
  test('a grant without labels sees every lead', () => {
    expect(grantedLabels([{ action: 'leads:read' }])).toEqual([]);
  });

  test('a grant with labels sees leads that carry all of them', () => {
    const grants = [{ action: 'leads:read' as const, labels: ['emea', 'sales'] }];
    expect(grantedLabels(grants)).toEqual(['emea', 'sales']);
  });

  test('a grant for the catalog is for the one workspace that it names', () => {
    const grants = [{ action: 'catalog:read' as const, workspace: 'acme' }];
    expect(grantedWorkspace(grants)).toBe('acme');
    expect(() => grantedLabels(grants)).toThrow(forbidden);
  });

  test('a workspace is named by at most 200 characters, an emoji being one', () => {
    const named = (characters: number) => [
      { action: 'catalog:read' as const, workspace: '🦊'.repeat(characters) },
    ];
    expect(parseGrants(named(200))).toEqual(named(200));
    expect(() => parseGrants(named(201))).toThrow();
  });

  test('without a grant nothing is allowed, nor with one that names no workspace', () => {
    expect(() => grantedLabels([])).toThrow(forbidden);
    expect(() => grantedWorkspace([{ action: 'leads:read' }])).toThrow(forbidden);
    expect(() => grantedWorkspace([{ action: 'catalog:read' }])).toThrow(forbidden);
  });
});

describe('parseGrants', () => {
  test('labels are trimmed, and a repetition in another case is dropped', () => {
    const labels = [' EMEA ', 'emea', 'sales'];
    expect(parseGrants([{ action: 'leads:read', labels }])).toEqual([
      { action: 'leads:read', labels: ['EMEA', 'sales'] },
    ]);
  });

  test.each([
    ['an unknown action', [{ action: 'leads:write' }], '#/grants/0/action'],
    ['an action twice', [{ action: 'leads:read' }, { action: 'leads:read' }], '#/grants/1/action'],
    ['no label in labels', [{ action: 'leads:read', labels: [] }], '#/grants/0/labels'],
    ['a blank label', [{ action: 'leads:read', labels: ['a', ' '] }], '#/grants/0/labels/1'],
    ['a comma', [{ action: 'leads:read', labels: ['a,b'] }], '#/grants/0/labels/0'],
    ['a line break', [{ action: 'leads:read', labels: ['a\nb'] }], '#/grants/0/labels/0'],
    [
      '201 characters',
      [{ action: 'leads:read', labels: ['a'.repeat(201)] }],
      '#/grants/0/labels/0',
    ],
    [
      'eleven labels',
      [{ action: 'leads:read', labels: Array.from({ length: 11 }, (_, at) => `l${at}`) }],
      '#/grants/0/labels',
    ],
    ['no workspace', [{ action: 'catalog:read' }], '#/grants/0/workspace'],
    ['an empty one', [{ action: 'catalog:read', workspace: '' }], '#/grants/0/workspace'],
    ['a line break in it', [{ action: 'catalog:read', workspace: 'a\nb' }], '#/grants/0/workspace'],
    [
      'labels for the catalog',
      [{ action: 'catalog:read', workspace: 'a', labels: ['x'] }],
      '#/grants/0/labels',
    ],
    ['a workspace for leads', [{ action: 'leads:read', workspace: 'a' }], '#/grants/0/workspace'],
  ])('%s is refused at its place', (_, grants, pointer) => {
    expect(() => parseGrants(grants)).toThrow(
      expect.objectContaining({
        code: 'validation-failed',
        errors: [expect.objectContaining({ pointer })],
      }),
    );
  });
});

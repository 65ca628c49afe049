import { describe, expect, test } from 'vitest';
import { decideGrant, parseGrants } from '#access/grants/grant.ts';

describe('decideGrant', () => {
  test('a grant without labels sees every lead', () => {
    expect(decideGrant([{ action: 'leads:read' }], 'leads:read')).toEqual({ labels: [] });
  });

  test('a grant with labels sees leads that carry all of them', () => {
    const grants = [{ action: 'leads:read' as const, labels: ['emea', 'sales'] }];
    expect(decideGrant(grants, 'leads:read')).toEqual({ labels: ['emea', 'sales'] });
  });

  test('without a grant nothing is allowed', () => {
    expect(() => decideGrant([], 'leads:read')).toThrow(
      expect.objectContaining({ code: 'insufficient-scope' }),
    );
  });
});

describe('parseGrants', () => {
  test('labels are trimmed, and a repetition in another case is dropped', () => {
    const labels = [' EMEA ', 'emea', 'sales'];
    expect(parseGrants([{ action: 'leads:read', labels }])).toEqual([
      { action: 'leads:read', labels: ['EMEA', 'sales'] },
    ]);
  });

  test('a label has up to 200 characters', () => {
    const labels = ['a'.repeat(200)];
    expect(parseGrants([{ action: 'leads:read', labels }])).toEqual([
      { action: 'leads:read', labels },
    ]);
  });

  test('a grant without labels stays without', () => {
    expect(parseGrants([{ action: 'leads:read' }])).toEqual([{ action: 'leads:read' }]);
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
  ])('%s is refused at its place', (_, grants, pointer) => {
    expect(() => parseGrants(grants)).toThrow(
      expect.objectContaining({
        code: 'validation-failed',
        errors: [expect.objectContaining({ pointer })],
      }),
    );
  });
});

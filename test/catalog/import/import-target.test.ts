import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fingerprintOf, matchOfShown } from '#catalog/import/import-target.ts';
import type { Content } from '#catalog/version/artifact.ts';

const base: Content = { type: 'API', owner: 'a', title: 't', source: 'FILE' };
const shownOf = (content: Content, computed: Partial<Content> = {}): Content => ({
  ...content,
  counts: { ...content.counts, versions: 3, members: 1, 'members.API': 1 },
  ...computed,
});

const id = fc.constantFrom('a', 'b', 'c', 'D', 'e');
const content: fc.Arbitrary<Content> = fc.record(
  {
    type: fc.constantFrom('API', 'GROUP', 'PRODUCT'),
    owner: fc.string(),
    title: fc.string(),
    source: fc.constant('FILE'),
    description: fc.string(),
    specText: fc.json(),
    projectId: fc.string(),
    groupPath: fc.string(),
    members: fc.uniqueArray(id),
    counts: fc.dictionary(fc.constantFrom('x', 'y', 'z'), fc.nat()),
  },
  { requiredKeys: ['type', 'owner', 'title', 'source'] },
);

test('what a response shows of a draft is never taken for another one', () => {
  fc.assert(
    fc.property(content, fc.func(fc.boolean()), fc.array(id), (draft, isSeen, below) => {
      const isComputed = draft.type === 'GROUP' && draft.members === undefined;
      const members = isComputed ? below : draft.members?.filter((member) => isSeen(member));
      const shown = shownOf(draft, members && { members });
      expect(matchOfShown(draft, shown)).not.toBe('different');
    }),
  );
});

test('a draft is surely the same only when all of it can be seen', () => {
  expect(matchOfShown(base, shownOf(base))).toBe('same');
  expect(matchOfShown({ ...base, members: ['x'] }, shownOf({ ...base, members: ['X'] }))).toBe(
    'unsure',
  );
});

test.each([
  { type: 'EVENT' },
  { owner: 'b' },
  { title: 'u' },
  { source: 'GIT' },
  { description: 'd' },
  { specText: '{}' },
  { projectId: 'p' },
  { groupPath: 'g' },
  { counts: { x: 1 } },
])('%j is other content', (change) => {
  const other = { ...base, ...change };
  expect(matchOfShown(base, shownOf(other))).toBe('different');
  expect(matchOfShown(other, shownOf(base))).toBe('different');
  expect(fingerprintOf(base)).not.toBe(fingerprintOf(other));
});

test.each([
  [undefined, ['a']],
  [['a'], ['b']],
  [
    ['a', 'b'],
    ['b', 'a'],
  ],
  [[], ['a']],
])('members %j are not those that are shown, %j', (members, shown) => {
  const draft = { ...base, ...(members && { members }) };
  expect(matchOfShown(draft, shownOf(base, { members: shown }))).toBe('different');
});

import { expect, test } from 'vitest';
import { type Lifecycle, lifecycles, type VersionRecord } from '#catalog/version/artifact.ts';
import {
  type LifecycleAction,
  requireDraft,
  requireEditable,
  transit,
} from '#catalog/lifecycle/transitions.ts';

const record = (lifecycle: Lifecycle): VersionRecord => ({
  workspaceId: 'w',
  id: 'a',
  version: '1.0.0',
  type: 'API',
  owner: 'o',
  title: 't',
  source: 'INLINE',
  findings: [],
  createdAt: 1,
  updatedAt: 1,
  serial: 1,
  revision: 3,
  lifecycle,
  ...(lifecycle !== 'DRAFT' && { publishedAt: 2 }),
  ...(['DEPRECATED', 'RETIRED'].includes(lifecycle) && { deprecatedAt: 4, sunsetAt: 90 }),
});

const allowed: Record<LifecycleAction, Partial<Record<Lifecycle, Partial<VersionRecord>>>> = {
  publish: { DRAFT: { lifecycle: 'PUBLISHED', publishedAt: 50 } },
  deprecate: {
    PUBLISHED: { lifecycle: 'DEPRECATED', deprecatedAt: 50, sunsetAt: 99 },
    DEPRECATED: { lifecycle: 'DEPRECATED', deprecatedAt: 4, sunsetAt: 99 },
  },
  reinstate: { DEPRECATED: { lifecycle: 'PUBLISHED' } },
  retire: { DEPRECATED: { lifecycle: 'RETIRED', deprecatedAt: 4, sunsetAt: 90 } },
};

/** Steps that a refusal names as possible, in this order. */
const possible: Record<Lifecycle, readonly string[]> = {
  DRAFT: ['publish', 'replace', 'edit', 'delete'],
  PUBLISHED: ['deprecate', 'edit'],
  DEPRECATED: ['deprecate', 'reinstate', 'retire', 'edit'],
  RETIRED: [],
};

const cells = (Object.keys(allowed) as LifecycleAction[]).flatMap((action) =>
  lifecycles.map((state) => [action, state, allowed[action][state]] as const),
);

test.each(cells)('%s of %s', (action, state, expected) => {
  const before = record(state);
  const how = { deprecate: { sunsetAt: 99 }, retire: { isEarly: true } };
  const move = (): VersionRecord =>
    transit(before, { action, now: 50, ...(action in how && how[action as keyof typeof how]) });
  if (!expected) {
    const refusal = {
      code: 'invalid-lifecycle-transition',
      extensions: { current: state, allowed: possible[state] },
    };
    expect(move).toThrow(expect.objectContaining(refusal));
    return;
  }
  const { deprecatedAt: _at, sunsetAt: _sunset, ...rest } = before;
  expect(move()).toEqual({ ...rest, updatedAt: 50, revision: 4, ...expected });
  expect(before).toEqual(record(state));
});

test('deprecating again without another sunset changes nothing at all', () => {
  const before = record('DEPRECATED');
  expect(transit(before, { action: 'deprecate', now: 50 })).toBe(before);
  expect(transit(before, { action: 'deprecate', now: 50, sunsetAt: 90 })).toBe(before);
});

test('a version is retired from its sunset on and once nobody reads it, before that only by who says so', () => {
  const before = record('DEPRECATED');
  const retire = (now: number, isEarly = false, readers: string[] = []): VersionRecord =>
    transit(before, { action: 'retire', now, isEarly, readers });
  expect(() => retire(89)).toThrow(
    expect.objectContaining({
      code: 'version-in-use',
      errors: [expect.objectContaining({ parameter: 'early', code: 'required' })],
      extensions: {
        current: 'DEPRECATED',
        allowed: ['deprecate', 'reinstate', 'edit'],
        readers: [],
      },
    }),
  );
  expect(() => retire(91, false, ['shop'])).toThrow(
    expect.objectContaining({
      code: 'version-in-use',
      extensions: expect.objectContaining({ readers: ['shop'] }),
    }),
  );
  for (const retired of [retire(89, true), retire(90), retire(91), retire(91, true, ['shop'])])
    expect(retired).toMatchObject({ lifecycle: 'RETIRED', sunsetAt: 90 });
  const { sunsetAt: _sunset, ...open } = before;
  expect(transit(open, { action: 'retire', now: 1 }).sunsetAt).toBeUndefined();
});

test('only drafts are replaced, and nothing edits a retired version', () => {
  for (const lifecycle of lifecycles) {
    const draft = (): void => requireDraft({ lifecycle });
    const editable = (): void => requireEditable({ lifecycle });
    const extensions = { current: lifecycle, allowed: possible[lifecycle] };
    const refusal = (code: string) => expect.objectContaining({ code, extensions });
    if (lifecycle === 'DRAFT') expect(draft).not.toThrow();
    else expect(draft).toThrow(refusal('not-a-draft'));
    if (lifecycle !== 'RETIRED') expect(editable).not.toThrow();
    else expect(editable).toThrow(refusal('invalid-lifecycle-transition'));
  }
});

test('what is said to be possible is what the transitions allow', () => {
  const actions = Object.keys(allowed) as LifecycleAction[];
  for (const state of lifecycles)
    expect(possible[state].filter((name) => actions.includes(name as LifecycleAction))).toEqual(
      actions.filter((action) => allowed[action][state]),
    );
});

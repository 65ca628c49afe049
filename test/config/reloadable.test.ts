import { expect, test } from 'vitest';
import { createReloadable } from '#config/reload.ts';

test('what is made from a value goes with it', () => {
  const settings = createReloadable({ size: 1 });
  const double = settings.derive(({ size }) => size * 2);
  expect([settings.current().size, double()]).toEqual([1, 2]);
  settings.replace({ size: 5 });
  expect([settings.current().size, double()]).toEqual([5, 10]);
});

test('a replacement that fails half-way changes nothing', () => {
  const settings = createReloadable(1);
  const first = settings.derive((value) => `first ${value}`);
  const second = settings.derive((value) => {
    if (value === 2) throw new TypeError('not this one');
    return `second ${value}`;
  });
  expect(() => settings.replace(2)).toThrow(TypeError);
  expect([settings.current(), first(), second()]).toEqual([1, 'first 1', 'second 1']);
  settings.replace(3);
  expect([settings.current(), first(), second()]).toEqual([3, 'first 3', 'second 3']);
});

test('what was made before can be kept', () => {
  const settings = createReloadable('a');
  const made: string[] = [];
  const kept = settings.derive<{ value: string }>((value, former) => {
    if (former?.value === value) return former;
    made.push(value);
    return { value };
  });
  const before = kept();
  settings.replace('a');
  expect(kept()).toBe(before);
  settings.replace('b');
  expect(kept()).not.toBe(before);
  expect(made).toEqual(['a', 'b']);
});

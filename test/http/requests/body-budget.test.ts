import { expect, test } from 'vitest';
import { createBodyBudget } from '#http/requests/body-budget.ts';

const KIB = 1024;
const SMALL = 64 * KIB;

test('a body that stays small costs nothing, however little room there is', () => {
  const budget = createBodyBudget(0);
  expect(budget.hasRoomFor(SMALL)).toBe(true);
  expect(budget.hold().add(SMALL)).toBe(true);
  expect(budget.heldBytes()).toBe(0);
});

test('a body that is no longer small counts with all of its bytes', () => {
  const budget = createBodyBudget(100 * KIB);
  const hold = budget.hold();
  hold.add(SMALL);
  hold.add(1);
  expect(budget.heldBytes()).toBe(SMALL + 1);
});

test('bodies share the room, and the one that finds none is let go as a whole', () => {
  const budget = createBodyBudget(200 * KIB);
  const [first, second] = [budget.hold(), budget.hold()];
  expect(first.add(100 * KIB)).toBe(true);
  expect(second.add(90 * KIB)).toBe(true);
  expect(second.add(11 * KIB)).toBe(false);
  expect(budget.heldBytes()).toBe(100 * KIB);
});

test('whether there is room is known before a body comes', () => {
  const budget = createBodyBudget(200 * KIB);
  budget.hold().add(100 * KIB);
  expect(budget.hasRoomFor(100 * KIB)).toBe(true);
  expect(budget.hasRoomFor(100 * KIB + 1)).toBe(false);
});

test('a released body gives its bytes back once', () => {
  const budget = createBodyBudget(200 * KIB);
  const hold = budget.hold();
  budget.hold().add(70 * KIB);
  hold.add(100 * KIB);
  hold.release();
  hold.release();
  expect(budget.heldBytes()).toBe(70 * KIB);
});

import { describe, expect, test } from 'vitest';
import { createWriteRefusals } from '#partners/deletions/act/write-refusals.ts';

describe('a write that is refused without a reason', () => {
  test('is the issue’s own while no other issue is refused', () => {
    const refusals = createWriteRefusals();
    expect([1, 1, 1, 1].map((number) => refusals.noteRefusal(number))).toEqual(
      Array(4).fill('own'),
    );
    expect(refusals.isWell()).toBe(true);
    expect(refusals.noteRefusal(2)).toBe('unclear');
    expect(refusals.isWell()).toBe(false);
  });

  test('is the issue’s own once another issue was written since its first refusal', () => {
    const refusals = createWriteRefusals();
    for (const number of [1, 2]) refusals.noteRefusal(number);
    refusals.noteSuccess(3);
    expect([1, 2, 1, 2].map((number) => refusals.noteRefusal(number))).toEqual(
      Array(4).fill('own'),
    );
  });

  test('is not its own for what was written before, nor for a write of its own', () => {
    const refusals = createWriteRefusals();
    refusals.noteSuccess(2);
    refusals.noteRefusal(3);
    expect(refusals.noteRefusal(1)).toBe('unclear');
    refusals.noteSuccess(1);
    refusals.noteRefusal(4);
    expect(refusals.noteRefusal(1)).toBe('unclear');
  });

  test('is the repository’s once three issues in a row were refused', () => {
    const refusals = createWriteRefusals();
    expect([1, 1, 2, 2, 1, 3, 1].map((number) => refusals.noteRefusal(number))).toEqual([
      'own',
      'own',
      'unclear',
      'unclear',
      'unclear',
      'general',
      'general',
    ]);
    refusals.noteSuccess(4);
    expect(refusals.noteRefusal(5)).toBe('own');
  });

  test('of issues that are known to be refused alone says nothing of the repository', () => {
    const refusals = createWriteRefusals();
    for (const number of [1, 2]) refusals.noteRefusal(number);
    refusals.noteSuccess(3);
    for (const number of [1, 2]) refusals.noteRefusal(number);
    expect(refusals.isWell()).toBe(true);
  });
});

import { describe, expect, test } from 'vitest';
import { createWriteRefusals } from '#partners/deletions/write-refusals.ts';

describe('a write that is refused without a reason', () => {
  test('is the issue’s own once another issue was written since its first refusal', () => {
    const refusals = createWriteRefusals();
    expect(refusals.noteRefusal(1)).toBe('unclear');
    refusals.noteSuccess(2);
    expect(refusals.noteRefusal(1)).toBe('own');
    expect(refusals.noteRefusal(1)).toBe('own');
  });

  test('is not its own for what was written before, nor for a write of its own', () => {
    const refusals = createWriteRefusals();
    refusals.noteSuccess(2);
    expect(refusals.noteRefusal(1)).toBe('unclear');
    refusals.noteSuccess(1);
    expect(refusals.noteRefusal(1)).toBe('unclear');
  });

  test('is the repository’s once three issues in a row were refused', () => {
    const refusals = createWriteRefusals();
    expect([1, 1, 2, 2, 3].map((number) => refusals.noteRefusal(number))).toEqual([
      'unclear',
      'unclear',
      'unclear',
      'unclear',
      'general',
    ]);
    refusals.noteSuccess(4);
    expect(refusals.noteRefusal(5)).toBe('unclear');
  });

  test('of an issue that is known to be refused alone says nothing of the repository', () => {
    const refusals = createWriteRefusals();
    refusals.noteRefusal(1);
    expect(refusals.isWell()).toBe(false);
    refusals.noteSuccess(2);
    refusals.noteRefusal(1);
    expect(refusals.isWell()).toBe(true);
  });
});

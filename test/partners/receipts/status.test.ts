import { describe, expect, test } from 'vitest';
import { createStatusTokens } from '#partners/receipts/status.ts';
import { DAY } from '#shared/clock.ts';
import { keyOf } from '../../support/keys.ts';

const key = keyOf(1);
const receipt = { id: '0190a3b2-0000-7000-8000-000000000001', receivedAt: 1_790_000_000_000 };
const at = (now: number) => createStatusTokens(key, { now: () => now });
const tokens = at(receipt.receivedAt);
const token = tokens.seal(receipt);

describe('a token', () => {
  test('opens to its receipt, and is always the same for it', () => {
    expect(tokens.open(token)).toBe(receipt.id);
    expect(at(receipt.receivedAt + DAY).seal(receipt)).toBe(token);
    expect(token).toMatch(/^[A-Za-z0-9_-]{80,120}$/);
    expect(Buffer.from(token, 'base64url').toString('latin1')).not.toContain(receipt.id);
  });

  test('of another receipt shares nothing that could be guessed', () => {
    const other = tokens.seal({ ...receipt, id: receipt.id.replace(/1$/, '2') });
    const later = tokens.seal({ ...receipt, receivedAt: receipt.receivedAt + 1 });
    expect(new Set([token, other, later].map((one) => one.slice(0, 16))).size).toBe(3);
  });

  test('opens for 30 days', () => {
    const end = receipt.receivedAt + 30 * DAY;
    expect(at(end - 1).open(token)).toBe(receipt.id);
    expect(at(end).open(token)).toBeUndefined();
  });

  test('opens with its own key only', () => {
    const other = createStatusTokens(keyOf(2), { now: () => receipt.receivedAt });
    expect(other.open(token)).toBeUndefined();
  });

  test('opens no more when one character differs', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (let place = 0; place < token.length; place += 1) {
      const next = alphabet[(alphabet.indexOf(token[place] ?? '') + 1) % 64];
      const altered = `${token.slice(0, place)}${next}${token.slice(place + 1)}`;
      expect(tokens.open(altered)).toBeUndefined();
    }
  });

  test.each([
    '',
    'x',
    receipt.id,
    `${token}A`,
    `${token}=`,
    ` ${token}`,
    token.slice(0, -1),
    token.slice(0, 37),
    'A'.repeat(96),
    token.repeat(1000),
    '\u0000',
  ])('%j is none', (text) => {
    expect(tokens.open(text)).toBeUndefined();
  });
});

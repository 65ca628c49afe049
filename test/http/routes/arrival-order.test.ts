import { expect, test } from 'vitest';
import { createArrivalOrder } from '#http/routes/github-webhook/arrival-order.ts';
import type { Issue, TrackerEvent } from '#leads/lead-tracker.ts';

const AT = 1_700_000_000_000;

const eventOf = (number: number): TrackerEvent & { kind: 'issue' } => ({
  kind: 'issue',
  issue: { number, updatedAt: AT } as Issue,
  isGone: false,
});
const older = (number: number) => ({
  ...eventOf(number),
  issue: { number, updatedAt: AT - 1 },
});

test('who was not overtaken stays as it is', () => {
  const order = createArrivalOrder();
  for (const event of [eventOf(1), eventOf(1), { kind: 'everything' } as const]) {
    const arrival = order.arrive();
    expect(arrival.place(event)).toBe(event);
    arrival.leave();
  }
});

test('who was overtaken by an event about the same issue is the older of the two', () => {
  const order = createArrivalOrder();
  const [slow, other, fast] = [order.arrive(), order.arrive(), order.arrive()];
  for (const [arrival, number] of [
    [fast, 1],
    [other, 2],
  ] as const) {
    expect(arrival.place(eventOf(number))).toEqual(eventOf(number));
    arrival.leave();
  }
  expect(slow.place(eventOf(1))).toEqual(older(1));
  slow.leave();
});

test('who was overtaken by other issues, by refused deliveries, or overtook, stays as it is', () => {
  const order = createArrivalOrder();
  const [slow, refused, other, next] = [1, 2, 3, 4].map(() => order.arrive());
  refused?.leave();
  expect(other?.place(eventOf(2))).toEqual(eventOf(2));
  other?.leave();
  expect(slow?.place(eventOf(1))).toEqual(eventOf(1));
  slow?.leave();
  expect(next?.place(eventOf(1))).toEqual(eventOf(1));
  next?.leave();
  const later = order.arrive();
  expect(later.place(eventOf(2))).toEqual(eventOf(2));
});

test('of three, each counts as older than those that overtook it', () => {
  const order = createArrivalOrder();
  const [first, second, third] = [1, 2, 3].map(() => order.arrive());
  expect(third?.place(eventOf(1))).toEqual(eventOf(1));
  third?.leave();
  first?.leave();
  expect(second?.place(eventOf(1))).toEqual(older(1));
});

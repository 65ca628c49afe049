import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createBodyReaders } from '#adapters/threads/body-readers.ts';
import { readSpecBody } from '#catalog/spec/spec-body.ts';
import { createPartner } from '#partners/partner.ts';
import { readDelivery } from '#partners/read-delivery.ts';
import { parseFormText } from '#shared/text/form-text.ts';
import { parseJsonText } from '#shared/text/json.ts';
import { createFakeClock } from '../../support/clock.ts';
import { startBodyThread } from '../../support/threads.ts';
import { secretsOf } from '../../support/partners.ts';
import { turnsDuring } from '../../support/work/turns.ts';

const KIB = 1024;
const readers = createBodyReaders(startBodyThread(createFakeClock()));
const { fields } = createPartner('crm-one', { scheme: 'hmac-sha256', secrets: secretsOf('one') });

const longText = `{"text":"${'x'.repeat(300 * KIB)}","id":12345678901234567890}`;
const manyValues = `{"eventId":12345678901234567890,"x":[${'1,'.repeat(20_000)}1]}`;
const batch = `\uFEFF [ {"eventId":"é","pad":"${'é'.repeat(150 * KIB)}"} ,\n7, {"leadId":"7"}]`;

test.each([
  ['a few values', '{"a":[1,2,{"b":"[,{"}]}'],
  ['200 KiB of text', `{"text":"${'é'.repeat(100 * KIB)}"}`],
  ['9,000 values', `[${'1,'.repeat(9000)}1]`],
])('%s are read at once', (_what, text) => {
  const bytes = Buffer.from(text);
  expect(readers.parse(bytes, {})).toEqual(JSON.parse(text));
  expect(readers.specBody(bytes)).toEqual(readSpecBody(bytes));
  expect(readers.delivery(Buffer.from(`{"x":${text}}`), fields)).toHaveLength(1);
});

describe.each([
  ['more than 256 KiB', longText],
  ['more than 10,000 values', manyValues],
  ['a large batch', batch],
])('%s', (_what, text) => {
  const bytes = Buffer.from(text);

  test('are read in a thread, as they would be here', async () => {
    const parsed = readers.parse(bytes, {});
    expect(parsed).toBeInstanceOf(Promise);
    expect(await parsed).toEqual(parseJsonText(bytes));
    const delivered = readers.delivery(bytes, fields);
    expect(delivered).toBeInstanceOf(Promise);
    expect(await delivered).toEqual(readDelivery(bytes, fields));
  });

  test('may be a spec, of which the text comes back', async () => {
    const body = Buffer.from(`{"id":"a","spec":{"x":${text.replace('\uFEFF', '')}}}`);
    const read = readers.specBody(body);
    expect(read).toBeInstanceOf(Promise);
    expect(await read).toEqual(readSpecBody(body));
    expect((await read).value).toEqual({ id: 'a', spec: {} });
  });
});

test('the bytes of each event are found again, whatever they are made of', async () => {
  const bytes = Buffer.from(batch);
  const events = await readers.delivery(bytes, fields);
  const cut = events.map(({ start, end }) => bytes.subarray(start, end).toString());
  expect(cut.slice(1)).toEqual(['7', '{"leadId":"7"}']);
  expect(JSON.parse(cut[0] ?? '')).toMatchObject({ eventId: 'é' });
  expect(events.map(({ event }) => event?.leadId ?? event?.eventId)).toEqual(['é', undefined, '7']);
});

describe('a form', () => {
  const form = (bytes: number): Buffer => Buffer.from(`a=1&spec=${'%0D%0A+'.repeat(bytes / 7)}`);

  test('of 64 KiB is read at once, a larger one in a thread, both alike', async () => {
    const small = form(63 * KIB);
    expect(readers.form(small)).toEqual(parseFormText(small));
    const large = form(5 * 1024 * KIB);
    const expected = parseFormText(large);
    const read = readers.form(large);
    expect(read).toBeInstanceOf(Promise);
    expect(await read).toEqual(expected);
  });

  test('of too many fields is refused there as here', async () => {
    const refused = { code: 'validation-failed', detail: 'The form has too many fields.' };
    await expect(readers.form(Buffer.from('a&'.repeat(50_000)))).rejects.toMatchObject(refused);
  });
});

test('what partners send goes before all else that waits', async () => {
  const ends: string[] = [];
  const yaml = `a: ${'x'.repeat(1000)}`;
  const others = Array.from({ length: 32 }, async () => {
    await readers.specText(yaml);
    ends.push('others');
  });
  const bytes = Buffer.from(longText);
  await expect(readers.specText('a: 1')).rejects.toMatchObject({ code: 'overloaded' });
  const delivered = await readers.delivery(bytes, fields);
  expect(ends.length).toBeLessThanOrEqual(1); // the one that was at work
  expect(delivered).toEqual(readDelivery(bytes, fields));
  await Promise.all(others);
});

test('YAML is read in a thread, however short it is', async () => {
  const quotes = `a: &a 1\n${"'\n".repeat(8180)}`;
  const read = readers.specText(quotes).catch((error: unknown) => error);
  expect(await turnsDuring(read)).toBeGreaterThan(1);
  expect(await read).toMatchObject({ code: 'malformed-json' });
});

test('whoever hangs up waits no more, and is never read', async () => {
  const gone = new AbortController();
  const { signal } = gone;
  const bytes = (): Buffer => Buffer.from(longText);
  const form = Buffer.from(`a=${'x'.repeat(300 * KIB)}`);
  const reads = [
    readers.parse(bytes(), {}, signal),
    readers.specBody(bytes(), signal),
    readers.specText('a: 1', signal),
    readers.delivery(bytes(), fields, signal),
    readers.form(form, signal),
  ];
  gone.abort();
  for (const read of reads)
    await expect(read).rejects.toMatchObject({ detail: 'The caller hung up.' });
});

test('what is refused is refused with its reason', async () => {
  const twice = Buffer.from(`{"a":1,"pad":"${'x'.repeat(300 * KIB)}","\\u0061":2}`);
  const refused = {
    code: 'malformed-json',
    detail: 'The name `a` stands twice in one object of the JSON.',
  };
  await expect(readers.parse(twice, {})).rejects.toMatchObject(refused);
  await expect(readers.specBody(twice)).rejects.toMatchObject(refused);
  await expect(readers.delivery(twice, fields)).rejects.toMatchObject(refused);
  const manyEvents = Buffer.from(`[${'{},'.repeat(10_000)}{}]`);
  await expect(readers.delivery(manyEvents, fields)).rejects.toMatchObject({
    code: 'payload-too-large',
    detail: 'A batch may hold at most 500 events.',
  });
  await expect(readers.parse(manyEvents, { valuesMax: 10_000 })).rejects.toMatchObject({
    code: 'payload-too-large',
  });
});

test('a body beside whose spec too much stands is refused, large or not', async () => {
  const of = (count: number, pad: string) =>
    Buffer.from(`{"spec":{"pad":"${pad}"},"members":[${'1,'.repeat(count)}1]}`);
  for (const pad of ['', 'x'.repeat(300 * KIB)]) {
    const read = async () => readers.specBody(of(10_001, pad));
    await expect(read()).rejects.toMatchObject({ code: 'payload-too-large' });
    expect((await readers.specBody(of(9000, pad))).spec?.text === `{"pad":"${pad}"}`).toBe(true);
  }
});

test('a thread that comes to no end is told as an overload', async () => {
  const clock = createFakeClock();
  const slow = createBodyReaders(startBodyThread(clock));
  const read = Promise.resolve(slow.parse(Buffer.from(longText), {})).catch((error) => error);
  await nextTurn();
  await clock.advance(5000);
  expect(await read).toMatchObject({ code: 'overloaded', retryAfterSeconds: 5 });
  const next = (await slow.parse(Buffer.from(longText), {})) as { id: string };
  expect(next.id).toBe('12345678901234567890');
});

import { describe, expect, test } from 'vitest';
import type { Tracker } from '#sandbox/tracker/tracker-api.ts';
import { openTracker, REPO, send } from '../support.ts';

const VALUES = `${REPO}/issues/1/issue-field-values`;

type Field = { id: number; name: string; data_type: string; options?: { name: string }[] };
type Value = { issue_field_name: string; value: unknown };

async function setUp() {
  const tracker = await openTracker();
  tracker.createField({ name: 'Note', dataType: 'text' });
  tracker.createField({ name: 'Size', dataType: 'number' });
  tracker.createField({ name: 'Due', dataType: 'date' });
  tracker.createField({ name: 'Region', dataType: 'single_select', options: ['EMEA', 'APAC'] });
  tracker.createField({ name: 'Tags', dataType: 'multi_select', options: ['a', 'b', 'c'] });
  tracker.createIssue({ title: 'A' });
  const { data } = await send(tracker, 'GET /orgs/acme/issue-fields');
  const fields = data as Field[];
  const idOf = (name: string) => fields.find((field) => field.name === name)?.id;
  const bodyOf = (values: Record<string, unknown>) => {
    const given = Object.entries(values).map(([name, value]) => ({ field_id: idOf(name), value }));
    return { issue_field_values: given };
  };
  return { tracker, fields, idOf, bodyOf };
}

async function valuesOf(tracker: Tracker): Promise<Record<string, unknown>> {
  const { data } = await send(tracker, `GET ${VALUES}`);
  return Object.fromEntries(
    (data as Value[]).map(({ issue_field_name, value }) => [issue_field_name, value]),
  );
}

const all = { Note: 'x', Size: 2.5, Due: '2026-12-01', Region: 'EMEA', Tags: ['a', 'c'] };

describe('typed fields', () => {
  test('are listed by the organization, with their options', async () => {
    const { fields } = await setUp();
    expect(fields.map(({ name, data_type }) => `${name} ${data_type}`)).toEqual([
      'Note text',
      'Size number',
      'Due date',
      'Region single_select',
      'Tags multi_select',
    ]);
    expect(fields[3]?.options?.map(({ name }) => name)).toEqual(['EMEA', 'APAC']);
  });

  test.each([
    ['of another account', '/orgs/octo-operator/issue-fields', {}],
    ['without a credential', '/orgs/acme/issue-fields', { token: null }],
    ['for who sees nothing', '/orgs/acme/issue-fields', { token: 'none-token' }],
  ])('are not there %s', async (_, path, how) => {
    const { tracker } = await setUp();
    expect((await send(tracker, `GET ${path}`, how)).status).toBe(404);
  });

  test('are added, replaced, and cleared one by one or all at once', async () => {
    const { tracker, bodyOf, idOf } = await setUp();
    expect((await send(tracker, `POST ${VALUES}`, { body: bodyOf(all) })).status).toBe(200);
    expect(await valuesOf(tracker)).toEqual({ ...all, Tags: 'a,c' });
    await send(tracker, `POST ${VALUES}`, { body: bodyOf({ Region: 'APAC' }) });
    expect(await valuesOf(tracker)).toEqual({ ...all, Tags: 'a,c', Region: 'APAC' });
    const note = `DELETE ${VALUES}/${idOf('Note')}`;
    expect((await send(tracker, note)).status).toBe(204);
    expect((await send(tracker, note)).status).toBe(404);
    await send(tracker, `PUT ${VALUES}`, { body: bodyOf({ Size: 1 }) });
    expect(await valuesOf(tracker)).toEqual({ Size: 1 });
    await send(tracker, `POST ${VALUES}`, { body: { issue_field_values: [] } });
    expect(await valuesOf(tracker)).toEqual({});
  });

  test('come with the issue, and are taken by its PATCH and by a new one', async () => {
    const { tracker, bodyOf } = await setUp();
    const body = bodyOf({ Region: 'EMEA' });
    const patched = await send(tracker, `PATCH ${REPO}/issues/1`, { body });
    const opened = await send(tracker, `POST ${REPO}/issues`, { body: { title: 'B', ...body } });
    for (const { data } of [patched, opened])
      expect(data).toMatchObject({
        issue_field_values: [{ value: 'EMEA', single_select_option: { name: 'EMEA' } }],
      });
  });

  test.each<[string, object]>([
    ['a text', { Note: 1 }],
    ['a number', { Size: '1' }],
    ['a date', { Due: '2026-13-01' }],
    ['an option', { Region: 'Nowhere' }],
    ['several options', { Tags: ['a', 'z'] }],
    ['a field', { Nothing: 'x' }],
  ])('of %s that cannot be are 422', async (_, values) => {
    const { tracker, bodyOf } = await setUp();
    const body = bodyOf(values as Record<string, unknown>);
    expect((await send(tracker, `POST ${VALUES}`, { body })).status).toBe(422);
    expect((await send(tracker, `PATCH ${REPO}/issues/1`, { body })).status).toBe(422);
  });

  test('are refused to who may not push, and dropped in silence by a PATCH', async () => {
    const { tracker, bodyOf, idOf } = await setUp();
    await send(tracker, `POST ${VALUES}`, { body: bodyOf(all) });
    const [token, body] = ['edit-token', bodyOf({ Region: 'APAC' })];
    for (const request of [`POST ${VALUES}`, `PUT ${VALUES}`, `DELETE ${VALUES}/${idOf('Note')}`])
      expect((await send(tracker, request, { token, body })).status).toBe(403);
    const patched = await send(tracker, `PATCH ${REPO}/issues/1`, { token, body });
    expect(patched.status).toBe(200);
    expect(await valuesOf(tracker)).toEqual({ ...all, Tags: 'a,c' });
  });
});

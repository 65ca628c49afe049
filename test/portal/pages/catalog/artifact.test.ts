import { describe, expect, test } from 'vitest';
import { setUp } from './support.ts';

describe('the page of an artifact', () => {
  test('is about its default version, or the one that is named', async () => {
    const { signIn, create, publish } = setUp();
    await create({ version: '1.0.0', specText: '{"a":1}', owner: 'first' });
    await publish('1.0.0');
    await create({ version: '2.0.0', owner: 'second' });
    const reader = await signIn(['catalog:read']);
    const { body } = await reader.get('/portal/catalog/leads');
    expect(body).toMatch(/id="h-about">About <code>1\./);
    expect(body).toContain('first');
    const other = await reader.get('/portal/catalog/leads?version=2.0.0');
    expect(other.body).toMatch(/id="h-about">About <code>2\./);
    expect((await reader.get('/portal/catalog/LEADS')).status).toBe(200);
  });

  test('has its spec as a file', async () => {
    const { signIn, create } = setUp();
    await create({ specText: '{"a":12345678901234567890}' });
    await create({ version: '2' });
    const reader = await signIn(['catalog:read']);
    const file = await reader.get('/portal/catalog/leads/spec?version=1.0.0');
    expect(file.body).toBe('{"a":12345678901234567890}');
    expect(file.headers).toMatchObject({
      'content-type': expect.stringContaining('application/json'),
      'content-disposition': 'attachment; filename="leads-1.0.0.json"',
    });
    expect((await reader.get('/portal/catalog/leads/spec?version=2')).status).toBe(404);
  });
});

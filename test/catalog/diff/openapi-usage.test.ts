import { expect, test } from 'vitest';
import { usageOf } from '#catalog/diff/openapi-usage.ts';

test('a place is walked once for each direction, however many references lead to what it stands in', () => {
  let looks = 0;
  const content = {
    get leaf() {
      looks += 1;
      return {};
    },
  };
  const schema = { properties: { a: { properties: { b: content } } } };
  const places = ['', '/properties', '/properties/a', '/properties/a/properties'];
  const refs = places.map((place) => ({ $ref: `#/components/schemas/S${place}` }));
  const usage = usageOf({
    paths: { '/p': { get: { parameters: refs, responses: { 200: refs } } } },
    components: { schemas: { S: schema } },
  });
  expect(looks).toBe(2);
  const both = new Set(['request', 'response']);
  for (const place of places) expect(usage.get(`components/schemas/S${place}`)).toEqual(both);
});

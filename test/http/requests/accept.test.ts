import { expect, test } from 'vitest';
import { prefersYaml } from '#http/requests/accept.ts';

test.each([
  'application/yaml',
  'APPLICATION/YAML',
  'application/x-yaml',
  'text/yaml; charset=utf-8',
  'application/json;q=0.5, application/yaml',
  'application/yaml, */*;q=0.1',
  'application/*;q=0.2, application/yaml;q=0.3',
  'text/html, application/yaml ; q=0.9, application/json; q=0.8',
])('%s wants YAML', (accept) => {
  expect(prefersYaml(accept)).toBe(true);
});

test.each([
  undefined,
  '',
  '*/*',
  'application/*',
  'application/json',
  'application/json, application/yaml',
  'application/yaml;q=0.5, application/json',
  'application/yaml;q=0.5, */*',
  'application/yaml;q=0',
  'application/yaml;q=x',
  'application/yaml;q=0, application/json;q=0.5, */*',
  'text/yaml;q=0.5, application/json;q=0.6, text/*',
  'text/html',
  'text/*',
  'application/yamlish',
])('%s wants JSON, or takes what there is', (accept) => {
  expect(prefersYaml(accept)).toBe(false);
});

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '#config/load.ts';
import { ConfigError } from '#config/problems.ts';
import { temporaryFolder } from '../support/folder.ts';

function fileOf(content: Buffer): string {
  const file = path.join(temporaryFolder(), 'file');
  writeFileSync(file, content);
  return file;
}

const tracker = 'tracker: { repository: acme/leads, auth: { token: t } }\n';
const load = (content: Buffer) => loadConfig({ file: fileOf(content), environment: {} });
const loadSecret = (secret: Buffer) => {
  const secrets = `["\${file:${fileOf(secret)}}"]`;
  return load(
    Buffer.from(`${tracker}partners: { crm-one: { scheme: hmac-sha256, secrets: ${secrets} } }`),
  );
};

describe('files of the configuration', () => {
  test('bytes that are no UTF-8 make no other label of what is meant', () => {
    const content = Buffer.from(`${tracker}leads: { approvedLabel: geprüft }`, 'latin1');
    expect(() => load(content)).toThrow(ConfigError);
    expect(() => load(content)).toThrow(/expected text in UTF-8/);
  });

  test('a secret of random bytes is refused, and not replaced by what can be read of it', () => {
    const secret = Buffer.from([0xff, 0x80, ...Buffer.from('0123456789abcdef')]);
    expect(() => loadSecret(secret)).toThrow(
      /partners\.crm-one\.secrets\[0\]: found \$\{file:.*\}, expected text in UTF-8/,
    );
  });

  test('a byte order mark is no part of a file or a secret', () => {
    const config = load(Buffer.from(`\uFEFF${tracker}leads: { approvedLabel: geprüft }`));
    expect(config.leads.approvedLabel).toBe('geprüft');
    const { partners } = loadSecret(Buffer.from('\uFEFFgeheim-äöü-0123456789\n'));
    expect(partners['crm-one']?.secrets[0]?.value.reveal()).toBe('geheim-äöü-0123456789');
  });
});

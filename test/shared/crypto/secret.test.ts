import { generateKeyPairSync } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { normalizePrivateKey } from '#shared/crypto/secret.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const pkcs1 = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const encrypted = privateKey
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'p' })
  .toString();
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

describe('the private key of an App', () => {
  test.each([
    ['PKCS#8', pkcs8],
    ['PKCS#1', pkcs1],
    ['CRLF', pkcs1.replaceAll('\n', '\r\n')],
    [String.raw`literal \n`, pkcs8.replaceAll('\n', String.raw`\n`)],
    [String.raw`literal \r\n`, pkcs1.replaceAll('\n', String.raw`\r\n`)],
    ['blanks around it', `\n  ${pkcs1}\n\n`],
  ])('is accepted as %s', (_, text) => {
    expect(normalizePrivateKey(text)).toEqual({ kind: 'key', pem: pkcs8 });
  });

  test.each([
    ['empty', ' \n', 'empty'],
    ['quoted', `"${pkcs8}"`, 'quotation marks'],
    ['quoted on one side', `${pkcs8.trim()}'`, 'quotation marks'],
    ['base64', Buffer.from(pkcs8).toString('base64'), 'base64'],
    [
      'wrapped base64',
      Buffer.from(pkcs8)
        .toString('base64')
        .replaceAll(/(.{76})/g, '$1\n'),
      'base64',
    ],
    ['a path', '/etc/key.pem', 'does not start with -----BEGIN'],
    ['cut off', pkcs8.slice(0, 300), 'cut off'],
    ['only the first line', '-----BEGIN RSA PRIVATE KEY-----', 'cut off'],
    ['damaged', pkcs8.replace(/\n[^-]{3}/, '\n???'), 'damaged'],
    ['encrypted', encrypted, 'encrypted'],
    ['public', publicKey.export({ type: 'spki', format: 'pem' }).toString(), 'not a private key'],
    ['elliptic', ec, 'no RSA key'],
  ])('is refused when %s, and never repeated', (_, text, reason) => {
    const check = normalizePrivateKey(text);
    expect(check).toMatchObject({ kind: 'refused', problem: expect.stringContaining(reason) });
    const material = text.replaceAll(/-----[^-]+-----/g, '').match(/[A-Za-z0-9+/]{12,}/g) ?? [];
    for (const piece of material) expect(JSON.stringify(check)).not.toContain(piece);
  });
});

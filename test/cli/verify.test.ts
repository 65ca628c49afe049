/** `receipt verify`: what a certificate says when it holds, and in plain words why one does not. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createCertificateSigner } from '#adapters/jose/certificates.ts';
import { CommandFailure } from '#cli/command.ts';
import type { Environment } from '#config/environment.ts';
import { deriveKey } from '#shared/crypto/hash.ts';
import { createFakeClock } from '../support/clock.ts';
import { environmentOf, runCommand } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { temporaryDatabase } from '../support/stores.ts';

const clock = createFakeClock(1);
const CLAIMS = {
  iss: 'https://trackport.example.com',
  iat: 1_790_000_000.5,
  jti: '7b6c1f1e-3c9d-4f0a-9a53-0d6f6f1c8a11',
  sub: 'crm-one',
  events: [
    {
      position: 0,
      eventType: 'gone\u001B[31m',
      receivedAt: '2026-09-21T14:13:20Z',
      outcome: 'PENDING' as const,
    },
  ],
};

function signerOf(fill: number, db = temporaryDatabase()) {
  const seed = deriveKey(Buffer.alloc(32, fill), 'certificates');
  return createCertificateSigner({ seed, db, clock });
}

async function setUp() {
  const database = temporaryDatabase();
  const secretKey = Buffer.alloc(32, 1).toString('base64');
  const environment = { ...environmentOf(database), TRACKPORT_SECRET_KEY: secretKey };
  const signer = signerOf(1, database);
  const folder = temporaryFolder();
  const put = (name: string, text: string): string => {
    const file = path.join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  const text = await signer.sign(CLAIMS);
  const set = async (fill: number) =>
    put(`keys-${fill}.json`, JSON.stringify(await signerOf(fill).keys()));
  return { environment, put, set, text, file: put('receipt.jwt', `${text}\n`), signer };
}

/** As somebody who is not Trackport can make one, whose set of keys is believed. */
function foreign(kid: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const header = { alg: 'EdDSA', typ: 'erasure-receipt+jwt', kid };
  const text = `${encode(header)}.${encode(CLAIMS)}`;
  const signature = sign(null, Buffer.from(text), privateKey).toString('base64url');
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid }];
  return { text: `${text}.${signature}`, keys: JSON.stringify({ keys }) };
}

type World = Awaited<ReturnType<typeof setUp>>;

function run({ environment }: { environment: Environment }, args: string[]) {
  const output = { out: '', notes: '' };
  const ran = runCommand(['receipt', 'verify', ...args], { clock, environment, output });
  return { output, ran };
}

async function failureOf(world: World, args: string[]): Promise<string> {
  const error: unknown = await run(world, args).ran.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(CommandFailure);
  return (error as Error).message;
}

describe('a certificate that holds', () => {
  test('is shown, by the keys of the store', async () => {
    const world = await setUp();
    const { out } = await run(world, [world.file]).ran;
    expect(out).toContain('The certificate holds.');
    expect(out).toContain('PENDING: open when this was issued');
    expect(out).toContain(CLAIMS.jti);
    expect(out).not.toContain('\u001B');
  });

  test('is shown by the keys of a file, whatever the store has', async () => {
    const world = await setUp();
    const withoutStore = { environment: {} };
    const { out } = await run(withoutStore, [world.file, '--jwks', await world.set(1)]).ran;
    expect(out).toContain('The certificate holds.');
  });

  test('says who could read the leads and who was told, and which events came before', async () => {
    const world = await setUp();
    const [event] = CLAIMS.events;
    const lastPastAt = '2026-09-21T14:20:00Z';
    const readers = { couldRead: 4, following: 3, past: 2, lastPastAt };
    const text = await signerOf(1).sign({
      ...CLAIMS,
      events: [{ ...event, position: 0, receivedAt: lastPastAt, outcome: 'DONE', readers }],
      repeats: [{ position: 1, receiptId: CLAIMS.jti }],
    });
    const { out } = await run(world, [world.put('b.jwt', text)]).ran;
    expect(out).toContain(
      'readers    4 could read, 3 of them follow, 2 of these are past it, the last 2026-09-21T14:20:00Z',
    );
    expect(out).toMatch(new RegExp(`event +1\ncame before +see the receipt ${CLAIMS.jti}`));
  });

  test('cannot write to a terminal what its key is called', async () => {
    const world = await setUp();
    const { text, keys } = foreign('k\u001B[31m');
    const args = [world.put('f.jwt', text), '--jwks', world.put('f.json', keys)];
    const { out } = await run(world, args).ran;
    expect(out).toContain('The certificate holds.');
    expect(out).not.toContain('\u001B');
  });

  test('holds by a set of keys that begins with a byte order mark', async () => {
    const world = await setUp();
    const keys = `\uFEFF${JSON.stringify(await world.signer.keys())}`;
    const { out } = await run(world, [world.file, '--jwks', world.put('bom.json', keys)]).ran;
    expect(out).toContain('The certificate holds.');
  });

  test('is one JSON document with --json', async () => {
    const world = await setUp();
    const { out } = await run(world, [world.file, '--json']).ran;
    expect(JSON.parse(out)).toEqual({ valid: true, kid: expect.any(String), claims: CLAIMS });
  });
});

type Case = [name: string, argsOf: (world: World) => Promise<string[]>, message: RegExp];

describe('a file that does not hold', () => {
  test.each<Case>([
    [
      'was altered',
      async ({ put, text }) => [
        put(
          'altered.jwt',
          text.replace(/.$/, (c) => (c === 'A' ? 'B' : 'A')),
        ),
      ],
      /does not hold|no erasure certificate/,
    ],
    ['is of another key', async ({ file, set }) => [file, '--jwks', await set(2)], /another key/],
    ['is something else', async ({ put }) => [put('a.jwt', 'hello')], /no erasure certificate/],
    ['is not there', async () => ['/nowhere/a.jwt'], /\/nowhere\/a\.jwt cannot be read: ENOENT/],
    [
      'is checked by what is no set',
      async ({ file, put }) => [file, '--jwks', put('k.json', '{')],
      /no set of keys/,
    ],
    ...['{}', '[]', 'null', '{"keys":{}}'].map((text): Case => [
      `is checked by ${text}`,
      async ({ file, put }) => [file, '--jwks', put('k.json', text)],
      /k\.json is no set of keys: it has no list of `keys`/,
    ]),
    [
      'is larger than any certificate',
      async ({ put }) => [put('a.jwt', 'a'.repeat(8 * 1024 * 1024 + 1))],
      /a\.jwt is larger than 8 MiB/,
    ],
    [
      'is checked by an address that does not answer',
      async ({ file }) => [file, '--jwks', 'http://127.0.0.1:1/'],
      /http:\/\/127\.0\.0\.1:1\/ gave no set of keys\. It cannot be reached/,
    ],
  ])('%s: that is said', async (_name, argsOf, message) => {
    const world = await setUp();
    expect(await failureOf(world, await argsOf(world))).toMatch(message);
  });

  test('is told as JSON, too', async () => {
    const world = await setUp();
    const { ran, output } = run(world, [world.put('a.jwt', 'hello'), '--json']);
    await expect(ran).rejects.toThrow(CommandFailure);
    expect(JSON.parse(output.out)).toMatchObject({ valid: false, reason: 'not-a-certificate' });
  });
});

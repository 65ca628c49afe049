/** `docs/how-to/certificate.md`, as it stands there, against the sandbox: what is filed holds, and what was altered does not. */
import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { signedBy } from '../../support/signed-by.ts';
import { takeBlock } from '../support/documents.ts';
import { exportedBy, shareSampleSandbox } from '../support/samples.ts';

vi.setConfig({ testTimeout: 180_000 });

const shared = shareSampleSandbox();

const FETCH = takeBlock('docs/how-to/certificate.md', '> receipt.jwt');
const OPENSSL = takeBlock('docs/how-to/certificate.md', 'openssl pkeyutl');
const READ = takeBlock('docs/how-to/certificate.md', 'openssl dgst');
const OURS = takeBlock('docs/how-to/certificate.md', 'receipt verify');
const PROGRAMS = [
  ['program.mts', takeBlock('docs/how-to/certificate.md', 'jwtVerify'), process.execPath],
  ['program.py', takeBlock('docs/how-to/certificate.md', 'Ed25519PublicKey'), 'python3'],
] as const;

const hasCryptography = spawnSync('python3', ['-c', 'import cryptography']).status === 0;
const canRun = (program: string): boolean => program !== 'python3' || hasCryptography;

type Filed = { folder: string; run: (script: string) => { status: number | null; out: string } };

let serial = 0;

/** A deletion that was sent and done, with its three files. */
async function file(): Promise<Filed> {
  const sandbox = await shared();
  const folder = temporaryFolder();
  serial += 1;
  const body = ` {"eventId":"to-be-certified-${serial}","leadId":"1"}\n`;
  writeFileSync(path.join(folder, 'body.json'), body);
  const secret = sandbox['CRM_ONE_SECRET'] ?? '';
  const url = `${sandbox['URL']}/api/v1/webhooks/partners/crm-one/deletions`;
  const headers = signedBy('hmac-sha256', secret, { body });
  const response = await fetch(url, { method: 'POST', headers, body });
  const exported = await exportedBy(takeBlock('docs/how-to/certificate.md', 'STATUS_URL=…'), {
    TRACKPORT_URL: sandbox['URL'] ?? '',
    STATUS_URL: response.headers.get('location') ?? '',
  });
  const env = { ...exported, ROOT: process.cwd(), NODE: process.execPath };
  const run: Filed['run'] = (script) => {
    const ran = spawnSync('sh', ['-e'], { input: script, cwd: folder, encoding: 'utf8', env });
    return { status: ran.status, out: ran.stdout + ran.stderr };
  };
  await eventually(async () => {
    const status = await fetch(exported['STATUS_URL'] ?? '');
    expect(await status.json()).toMatchObject({ status: 'PROCESSED' });
  });
  expect(run(FETCH)).toEqual({ status: 0, out: '' });
  symlinkSync(path.resolve('node_modules'), path.join(folder, 'node_modules'));
  return { folder, run };
}

/** Alters what the certificate says. */
function alter({ folder }: Filed): void {
  const place = path.join(folder, 'receipt.jwt');
  const text = readFileSync(place, 'utf8');
  const [header = '', claims = '', signature = ''] = text.split('.');
  const said = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { events: object[] };
  const events = said.events.map((event) => ({ ...event, remains: undefined }));
  const altered = Buffer.from(JSON.stringify({ ...said, events })).toString('base64url');
  writeFileSync(place, [header, altered, signature].join('.'));
}

const verify = OURS.replace('trackport ', '"$NODE" "$ROOT/bin/trackport.js" ');

test('openssl finds that it holds, and that an altered one does not', async () => {
  const filed = await file();
  const { status, out } = filed.run(OPENSSL + READ);
  expect([status, out]).toEqual([0, expect.stringContaining('Signature Verified Successfully')]);
  const digest = /^([0-9a-f]{64}) \*body.json$/m.exec(out)?.[1];
  expect(out).toContain(`"digest":"${digest}"`);
  alter(filed);
  expect(filed.run(OPENSSL).status).not.toBe(0);
});

for (const [name, text, program] of PROGRAMS)
  test.skipIf(!canRun(program))(`${name} finds the same`, async () => {
    const filed = await file();
    writeFileSync(path.join(filed.folder, name), text);
    const command = `'${program}' ${name}`;
    expect(filed.run(command).out).toMatch(/^DONE (?:undefined|None) left: text\S* ours\n$/);
    alter(filed);
    expect(filed.run(command).status).not.toBe(0);
  });

test('the command finds the same', async () => {
  const filed = await file();
  expect(filed.run(verify)).toMatchObject({ status: 0, out: expect.stringMatching('holds') });
  alter(filed);
  const { status, out } = filed.run(verify);
  expect([status, out]).toEqual([1, expect.stringContaining('altered')]);
});

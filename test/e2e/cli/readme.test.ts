import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../support/folder.ts';
import { takeBlock } from '../support/documents.ts';

type Answer = (response: ServerResponse) => void;

const json =
  (status: number, body: object, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(status, headers).end(JSON.stringify(body));

const page = (id: string, nextCursor?: string): Answer =>
  json(200, {
    items: [{ id, title: `Lead ${id}`, contact: { email: `${id}@example.com` } }],
    pagination: { hasMore: nextCursor !== undefined, ...(nextCursor && { nextCursor }) },
  });

const later = { 'retry-after': '0.01' };

/** Runs the reader of the README against a service that answers so; what it asked for. */
async function runReader(...answers: Answer[]) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${String(request.headers['x-api-key'])}`);
    (answers.shift() ?? json(500, {}))(response);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const snippet = takeBlock('README.md', 'pagination.nextCursor');
  const file = path.join(temporaryFolder(), 'reader.mjs');
  writeFileSync(file, snippet.replace('http://127.0.0.1:8080', `http://127.0.0.1:${port}`));
  return new Promise<{ asked: string[]; code: number; out: string; err: string }>((resolve) => {
    const env = { PATH: process.env['PATH'], TRACKPORT_KEY: 'tpk_a' };
    execFile(process.execPath, [file], { env }, (error, out, err) => {
      resolve({ asked, code: error === null ? 0 : 1, out, err });
    });
  });
}

test('the reader of the README reads every page, and waits as long as it is told', async () => {
  const { asked, code, out } = await runReader(
    page('1', 'c/1'),
    json(429, { code: 'quota-exceeded' }, later),
    json(503, { code: 'tracker-unavailable' }, later),
    page('2'),
  );
  expect([code, out]).toEqual([0, '1 Lead 1 1@example.com\n2 Lead 2 2@example.com\n']);
  expect(asked).toEqual([
    '/api/v1/leads?limit=100 tpk_a',
    ...Array.from({ length: 3 }, () => '/api/v1/leads?limit=100&cursor=c%2F1 tpk_a'),
  ]);
});

test.each([
  ['a refusal', json(401, { code: 'unauthorized' }), '401 {"code":"unauthorized"}'],
  ['what a proxy says', (response) => void response.writeHead(502).end('<html>'), '502 <html>'],
] as [string, Answer, string][])('it ends with %s', async (_what, answer, message) => {
  const { asked, code, err } = await runReader(answer);
  expect([asked.length, code]).toEqual([1, 1]);
  expect(err).toContain(`Error: ${message}`);
});

import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createClient } from '@trackport/client';
import { expect, test } from 'vitest';
import { openServer } from '../support/http/local-server.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

test('a stream ends with its signal, also after Node has collected garbage', async () => {
  const baseUrl = await openServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('id: 1\n\n');
  });
  const end = new AbortController();
  const changes = createClient({ baseUrl, apiKey: 'k' }).changes({ signal: end.signal });
  const next = changes.next().catch((error: unknown) => error);
  for (let round = 0; round < 10; round += 1) {
    await sleep(30);
    collectGarbage();
  }
  end.abort();
  expect(await next).toBe(end.signal.reason);
});

import { connect } from 'node:net';
import nock from 'nock';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Tracing } from '#shared/tracing.ts';
import { eventually } from '../../support/eventually.ts';
import { buildTestApp } from '../../support/http/app.ts';

// It would stand between our socket and the server.
beforeAll(() => nock.restore());

type Ended = { name: string; attributes: Record<string, unknown>; errorType: string | undefined };

/** What has ended, in order. */
function recordSpans(): { tracing: Tracing; ended: Ended[] } {
  const ended: Ended[] = [];
  const start: Tracing['start'] = (name, { attributes } = {}) => {
    const all = { ...attributes };
    return {
      run: (work) => work(),
      set: (more) => void Object.assign(all, more),
      end: (errorType) => void ended.push({ name, attributes: all, errorType }),
    };
  };
  return { tracing: { start, current: () => undefined }, ended };
}

async function open() {
  const { tracing, ended } = recordSpans();
  const arrived = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const app = buildTestApp({ tracing });
  app.get('/slow', async (request) => {
    request.logFacts = { receiptId: 'receipt-1' };
    arrived.resolve();
    await gate.promise;
    return { done: true };
  });
  onTestFinished(() => app.close());
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
  const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
  await arrived.promise;
  return { socket, ended, gate };
}

test('a request has one span, which ends with its response', async () => {
  const { socket, ended, gate } = await open();
  expect(ended).toEqual([]);
  gate.resolve();
  await eventually(() => expect(ended).toHaveLength(1));
  const status = { 'http.response.status_code': 200, 'trackport.receipt_id': 'receipt-1' };
  expect(ended).toMatchObject([{ name: 'GET /slow', attributes: status, errorType: undefined }]);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.destroy();
  await closed;
  expect(ended).toHaveLength(1);
});

test('the span of a request ends where its caller goes away, too, and says so', async () => {
  const { socket, ended, gate } = await open();
  socket.destroy();
  await eventually(() => expect(ended).toHaveLength(1));
  expect(ended).toMatchObject([{ name: 'GET /slow', errorType: 'aborted' }]);
  expect(ended[0]?.attributes).toHaveProperty('trackport.receipt_id', 'receipt-1');
  expect(ended[0]?.attributes).not.toHaveProperty('http.response.status_code');
  gate.resolve();
});

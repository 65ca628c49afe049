import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createEarlyResponses } from '#http/responses/early-responses.ts';

function requestOn(socket: Socket, isComplete: boolean): IncomingMessage {
  return Object.assign(new IncomingMessage(socket), { complete: isComplete });
}

test('a connection has its response while the body of that request still comes', () => {
  const early = createEarlyResponses();
  const socket = new Socket();
  const request = requestOn(socket, false);
  early.note(request);
  expect(early.hasResponded(socket)).toBe(true);
  request.complete = true;
  expect(early.hasResponded(socket)).toBe(false);
});

test('a request that had come whole leaves its connection free', () => {
  const early = createEarlyResponses();
  const socket = new Socket();
  early.note(requestOn(socket, true));
  expect(early.hasResponded(socket)).toBe(false);
  expect(early.hasResponded(new Socket())).toBe(false);
});

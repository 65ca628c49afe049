import { type IncomingHttpHeaders } from 'node:http';

import { expect, onTestFinished } from 'vitest';

import type { Tracker, TrackerOptions } from '#sandbox/tracker/tracker-api.ts';
import { startTracker } from '#sandbox/tracker/tracker.ts';

import { problemsOfAnswer } from './github-description.ts';
import { openServer } from '../support/http/local-server.ts';

const TOKENS = [
  { token: 'none-token', can: 'none' },
  { token: 'read-token', can: 'read', login: 'reader' },
  { token: 'edit-token', can: 'edit', login: 'editor' },
  { token: 'write-token', can: 'write', login: 'writer' },
  { token: 'admin-token', can: 'admin', login: 'owner' },
] as const;

export const REPO = '/repos/acme/leads';

/** Closes something when the test ends. */
export function onEnd(close: () => Promise<void>): void {
  onTestFinished(close);
}

export async function openTracker(options: TrackerOptions = {}): Promise<Tracker> {
  const tracker = await startTracker({ tokens: TOKENS, ...options });
  onEnd(() => tracker.close());
  return tracker;
}

export type Reply = {
  status: number;
  headers: Headers;
  /** Fits every type: each test says what it expects. */
  data: never;
  text: string;
};

export type Sending = { token?: string | null; body?: unknown; headers?: Record<string, string> };

/**
 * Sends one request and checks the answer against the published description of the API, so that
 * every test of the sandbox is a test of its faithfulness as well.
 */
export async function send(
  tracker: Tracker,
  request: string,
  { token = 'admin-token', body, headers = {} }: Sending = {},
): Promise<Reply> {
  const [method = 'GET', target = '/'] = request.split(' ');
  const response = await fetch(`${tracker.url}${target}`, {
    method,
    redirect: 'manual',
    headers: { ...(token ? { authorization: `Bearer ${token}` } : {}), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const data = (text === '' ? undefined : JSON.parse(text)) as never;
  const path = new URL(target, tracker.url).pathname.replace(/^\/repositories\/\d+/, REPO);
  const problems = problemsOfAnswer({ method, path }, response.status, data);
  expect(problems ?? [], `${request} answered ${response.status}`).toEqual([]);
  return { status: response.status, headers: response.headers, data, text };
}

export type Received = { path: string; headers: IncomingHttpHeaders; body: string };

/** A receiver of webhooks that answers 202, or whatever `status` says at the moment. */
export async function openReceiver(): Promise<{
  url: string;
  received: Received[];
  answerWith: (status: number) => void;
}> {
  const received: Received[] = [];
  let status = 202;
  const url = await openServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      });
      response.writeHead(status).end();
    });
  });
  const answerWith = (next: number): void => {
    status = next;
  };
  return { url: `${url}/hook`, received, answerWith };
}

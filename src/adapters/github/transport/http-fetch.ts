import http from 'node:http';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { pipeline } from 'node:stream';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { readText } from './response.ts';

const UNREAD = new Set([204, 205]);

/** What Octokit gives to `fetch`. */
export type FetchInit = {
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  signal?: AbortSignal | undefined;
};

/** What Octokit reads of a response. */
type FetchedResponse = {
  url: string;
  status: number;
  statusText: string;
  headers: ReadonlyMap<string, string>;
  body: Readable;
  text: () => Promise<string>;
  arrayBuffer: () => Promise<ArrayBuffer>;
};

/**
 * As much of `fetch` as Octokit uses, on the connections of `node:http`. Node's own has a parser
 * in WebAssembly that is compiled while it runs.
 * Redirects are responses. Rejects with the signal's reason once that is aborted.
 */
export async function httpFetch(url: string, init: FetchInit): Promise<FetchedResponse> {
  const response = await send(url, init);
  const body = decoded(response);
  body.on('error', () => undefined); // whoever reads it gets the error
  // Octokit leaves such a body alone, but a connection is free only when all was read.
  if (init.method === 'HEAD' || UNREAD.has(response.statusCode ?? 0)) body.resume();
  return {
    url,
    status: response.statusCode ?? 0,
    statusText: response.statusMessage ?? '',
    headers: new Map(
      Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
    ),
    body,
    text: () => readText(body),
    arrayBuffer: async () => new TextEncoder().encode(await readText(body)).buffer,
  };
}

function send(url: string, { method, headers, body, signal }: FetchInit): Promise<IncomingMessage> {
  signal?.throwIfAborted();
  const { request } = url.startsWith('https:') ? https : http;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method,
      headers: { ...headers, 'accept-encoding': 'gzip' },
      ...(signal && { signal }),
    });
    sent.once('response', (response) => {
      // Else the abort of a body that is being read would look like a broken connection.
      const abort = (): void => void response.destroy(signal?.reason);
      signal?.addEventListener('abort', abort, { once: true });
      response.once('close', () => signal?.removeEventListener('abort', abort));
      resolve(response);
    });
    sent.on('error', (error) => reject(signal?.aborted ? signal.reason : error));
    sent.end(body);
  });
}

function decoded(response: IncomingMessage): Readable {
  if (response.headers['content-encoding'] !== 'gzip') return response;
  return pipeline(response, createGunzip(), () => undefined);
}

import type { Client } from 'openapi-fetch';
import type { paths } from './api.ts';
import type { Answers } from './transports.ts';

/** A text, or a function that gives the one of now, before each call. */
export type Credential = string | (() => string | Promise<string>);

/** Middleware that is added later sees it, and may change it. */
export function addCredential(
  api: Client<paths, Answers>,
  header: string,
  credential: Credential | undefined,
  prefix = '',
): void {
  if (credential === undefined || credential === '') return;
  api.use({
    onRequest: async ({ request }) => {
      if (request.headers.has(header)) return;
      const text = typeof credential === 'string' ? credential : await credential();
      request.headers.set(header, `${prefix}${text}`);
    },
  });
}

import { Registry } from 'prom-client';
import { silentLog } from '#shared/log.ts';
import { createApp } from './app.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import { buildOpenApi } from './openapi.ts';

/** The document of every area, without starting or needing any of their services. */
export async function describeApi(): Promise<OpenApiDocument> {
  const app = createApp({
    clock: neverCalled,
    newId: neverCalled,
    log: silentLog,
    metrics: new Registry(),
    publicUrl: () => '',
    refusalLimiter: neverCalled,
    leads: neverCalled,
    trackerWebhook: neverCalled,
  });
  try {
    return await buildOpenApi(app);
  } finally {
    await app.close();
  }
}

/** Stands for any service: each member is a function that refuses to be called. */
const neverCalled = new Proxy(refuseCall, {
  get: (target, name) => (name === 'then' ? undefined : target),
}) as never;

function refuseCall(): never {
  throw new Error('no service may be used while the API is only described');
}

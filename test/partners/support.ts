import { type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HttpApp } from '#http/context.ts';
import type { PartnerSettings } from '#partners/partner.ts';
import { createFakeClock } from '../support/clock.ts';
import { secretsOf } from '../support/partners.ts';
import { signedBy } from '../support/signed-by.ts';
import { openWorld, type World, type WorldOptions } from '../support/world.ts';

export const NOW = 1_790_000_002_000;
export const PARTNER_URL = 'https://trackport.example.com';
export const SECRET_ONE = 'whk_test_4f9d0c7b2a6e4d1c8b3f5a7e9c1d2b4f';
export const SECRET_TWO = '9f2c6b1e-7d34-4c8a-9b0e-5a1f3d7c2e84';

const usualPartners: Record<string, PartnerSettings> = {
  'crm-one': { scheme: 'hmac-sha256', secrets: secretsOf(SECRET_ONE) },
  'crm-two': { scheme: 'signature-v3', secrets: secretsOf(SECRET_TWO) },
};

/** Signature and deliveries of one partner: everything that a test does not care about. */
export function signedHeaders(
  partner: 'crm-one' | 'crm-two',
  call: { body: Buffer | string; path?: string; timestamp?: string; secret?: string },
): Record<string, string> {
  const { body, path = `/api/v1/webhooks/partners/${partner}/deletions`, timestamp = NOW } = call;
  const isOne = partner === 'crm-one';
  return signedBy(
    isOne ? 'hmac-sha256' : 'signature-v3',
    call.secret ?? (isOne ? SECRET_ONE : SECRET_TWO),
    { body, uri: PARTNER_URL + path, at: timestamp },
  );
}

/** A world with partners that sign as `signedHeaders` does, at `NOW`. */
export function buildPartnerServer({ app, ...options }: WorldOptions = {}): World {
  return openWorld({
    clock: createFakeClock(NOW),
    partners: usualPartners,
    refusedPerMinute: 1e6,
    app: { publicUrl: () => PARTNER_URL, bearer: undefined, ...app },
    ...options,
  });
}

type RawAnswer = { status: number; headers: IncomingHttpHeaders; text: string };

/** A call over a real connection; `headers` may name one header twice. */
export async function callOverHttp(
  app: HttpApp,
  call: { path: string; headers: [string, string][]; body: Buffer; method?: string },
): Promise<RawAnswer> {
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      host: '127.0.0.1',
      port,
      method: call.method ?? 'POST',
      path: call.path,
      agent: false,
    });
    for (const name of new Set(call.headers.map(([name]) => name)))
      outgoing.setHeader(
        name,
        call.headers.filter((header) => header[0] === name).map(([, value]) => value),
      );
    outgoing.on('error', reject).on('response', (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () =>
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    outgoing.end(call.body);
  });
}

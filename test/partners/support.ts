import { createSecretKey } from 'node:crypto';
import { type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import { onTestFinished } from 'vitest';
import { createLimiter } from '#access/limit.ts';
import type { PartnerSettings } from '#partners/partner.ts';
import { signingKey } from '#partners/intake/signature.ts';
import { fixedSignings } from '#partners/intake/signing.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { buildTestApp, type TestAppSetup } from '../support/http/app.ts';
import { createFakeClock, type FakeClock } from '../support/clock.ts';
import { directoryKey } from '../support/directory.ts';
import {
  buildPartners,
  type PartnersOptions,
  type PartnersWorld,
  secretsOf,
} from '../support/partners.ts';
import { readWorkCounts } from '#partners/worker/lease-events.ts';

export const NOW = 1_790_000_002_000;
export const PARTNER_URL = 'https://trackport.example.com';
export const SECRET_ONE = 'whk_test_4f9d0c7b2a6e4d1c8b3f5a7e9c1d2b4f';
export const SECRET_TWO = '9f2c6b1e-7d34-4c8a-9b0e-5a1f3d7c2e84';

export const hashKey = createSecretKey(directoryKey);

const usualPartners: Record<string, PartnerSettings> = {
  'crm-one': { scheme: 'hmac-sha256', secrets: secretsOf(SECRET_ONE) },
  'crm-two': { scheme: 'signature-v3', secrets: secretsOf(SECRET_TWO) },
};

/** Signature and deliveries of one partner: everything that a test does not care about. */
export function signedHeaders(
  partner: 'crm-one' | 'crm-two',
  call: { body: Buffer | string; path?: string; timestamp?: string; secret?: string },
): Record<string, string> {
  const isOne = partner === 'crm-one';
  const scheme = isOne ? 'hmac-sha256' : 'signature-v3';
  const timestamp = call.timestamp ?? String(NOW);
  const signature = fixedSignings[scheme].sign(
    signingKey(new Secret(call.secret ?? (isOne ? SECRET_ONE : SECRET_TWO))),
    {
      method: 'POST',
      uri: PARTNER_URL + (call.path ?? `/api/v1/webhooks/partners/${partner}/deletions`),
      body: Buffer.from(call.body),
      timestamp,
    },
  );
  const common = { 'content-type': 'application/json' };
  if (isOne) return { ...common, 'x-partner-signature': signature };
  return {
    ...common,
    'x-vendor-signature-v3': signature,
    'x-vendor-request-timestamp': timestamp,
  };
}

export type PartnerServer = PartnersWorld & {
  app: ReturnType<typeof buildTestApp>;
  clock: FakeClock;
  metrics: Registry;
  /** Number of events that wait. */
  waiting(): Promise<number>;
};

type Options = Omit<PartnersOptions, 'clock'> & {
  clock?: FakeClock;
  refusedPerMinute?: number;
  app?: TestAppSetup;
};

/** The public server with partners and a store of its own; closed when the test ends. */
export function buildPartnerServer(options: Options = {}): PartnerServer {
  const { refusedPerMinute = 1e6, app: more } = options;
  const { clock = createFakeClock(NOW), ...ports } = options;
  const world = buildPartners({ partners: usualPartners, clock, ...ports });
  const metrics = new Registry();
  const app = buildTestApp({
    clock,
    metrics,
    publicUrl: () => PARTNER_URL,
    refusalLimiter: createLimiter({ clock, limitPerMinute: refusedPerMinute }),
    partners: world.partners,
    partnerRegistry: { registry: metrics, namesPartners: true, partnerIds: () => [] },
    ...more,
  });
  onTestFinished(() => app.close());
  const waiting = async () => (await readWorkCounts(world.work.db)).open;
  return { ...world, app, clock, metrics, waiting };
}

export type RawAnswer = { status: number; headers: IncomingHttpHeaders; text: string };

/** A call over a real connection; `headers` may name one header twice. */
export async function callOverHttp(
  app: PartnerServer['app'],
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

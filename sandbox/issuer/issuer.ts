/**
 * A real OpenID Connect provider on loopback: client credentials for machines, authorization code
 * with PKCE for people. Everything it knows is made at its start and gone at its end.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import { Provider } from 'oidc-provider';
import { randomBase62 } from '#shared/ids.ts';
import { closeServer, listenOnLoopback } from '../loopback.ts';
import { ALL_SCOPES, type MachineClient, PORTAL_CLIENT_ID } from './clients.ts';
import { providerConfiguration } from './configuration.ts';
import { createMemory } from './memory.ts';
import { respondToInteraction, interactionPath, isInteraction } from './sign-in.ts';

export type IssuerOptions = {
  /** Default 0: any free port. */
  port?: number;
  /** Default `trackport`. */
  audience?: string;
  /** Further clients beside the one that may have every scope. */
  machines?: readonly MachineClient[];
};

export type Issuer = {
  /** As tokens name it. */
  url: string;
  audience: string;
  tokenEndpoint: string;
  /** A client that may have every scope, with a secret made at the start. */
  machine: MachineClient;
  /** The public client of people; it comes back to `/portal/callback` on any loopback port. */
  portalClientId: string;
  /** Every scope that can be had, with blanks between them. */
  scopes: string;
  close(): Promise<void>;
};

/** Starts the issuer on 127.0.0.1; no other address is possible. */
export async function startIssuer(options: IssuerOptions = {}): Promise<Issuer> {
  const { audience = 'trackport' } = options;
  const machine = { clientId: 'sandbox-machine', clientSecret: randomBase62(40) };
  const machines = [machine, ...(options.machines ?? [])];
  const server = createServer();
  const url = `http://127.0.0.1:${await listenOnLoopback(server, options.port ?? 0)}`;
  const key = await makeKey();
  const memory = createMemory();
  const provider = new Provider(
    url,
    providerConfiguration({ key, memory, audience, machines, interactionPath }),
  );
  const handle = provider.callback();
  server.on('request', (request, response) => {
    const path = request.url?.split('?', 1)[0] ?? '';
    if (isInteraction(path)) void interact(provider, request, response);
    else void handle(request, response);
  });
  return {
    url,
    audience,
    tokenEndpoint: `${url}/token`,
    machine,
    portalClientId: PORTAL_CLIENT_ID,
    scopes: ALL_SCOPES,
    close: () => closeServer(server),
  };
}

async function makeKey() {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: randomBase62(12), alg: 'ES256', use: 'sig' };
}

/** An interaction that has ended, or was never begun, is the person's to start again. */
async function interact(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    await respondToInteraction(provider, request, response);
  } catch {
    if (!response.headersSent) response.writeHead(400, { 'content-type': 'text/plain' });
    response.end('This sign-in has ended. Start again where you came from.\n');
  }
}

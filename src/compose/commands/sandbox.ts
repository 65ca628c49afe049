import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { loadConfig } from '#config/load.ts';
import type { Environment } from '#config/interpolate.ts';
import { readTracing } from '#config/tracing.ts';
import type { Config } from '#config/schema/schema.ts';
import { GITHUB_WEBHOOK_PATH } from '#http/routes/github-webhook.ts';
import { renderBanner } from '#sandbox/banner.ts';
import { startSandbox } from '#sandbox/sandbox.ts';
import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import { COMMIT, PROGRAM_COMMAND, programUrl, VERSION } from '#shared/program.ts';
import { createCleanupStack, type CleanupStack } from '#shared/resilience/cleanup-stack.ts';
import { type Service, startService } from '../service.ts';
import { createLog, type LogOutput } from '../telemetry/log.ts';

export type SandboxRequest = {
  environment: Environment;
  /** `--port`, as it was typed. */
  port: string | undefined;
  clock: Clock;
  logOutput: LogOutput;
  /** Gets the commands to paste once everything listens. */
  print: (text: string) => void;
};

/**
 * Everything on this machine: the sandbox's tracker with sample leads, and the real service on an
 * empty store in a temporary folder, configured for it. Only keys of `server` can be set
 * from outside. @throws {validation-failed} when `server.host` is not loopback
 */
export async function startSandboxService(
  request: SandboxRequest,
): Promise<{ url: string; stop(): Promise<void>; reload(): void }> {
  const cleanup = createCleanupStack();
  try {
    const { log, service } = await start(request, cleanup);
    return {
      url: service.url,
      reload: () => log.info({}, 'nothing to reload: the sandbox has no configuration file'),
      stop: async () => {
        await service.stop();
        await cleanup.releaseAll();
      },
    };
  } catch (error) {
    await cleanup.releaseAll().catch(() => undefined);
    throw error;
  }
}

async function start(
  request: SandboxRequest,
  cleanup: CleanupStack,
): Promise<{ log: Log; service: Service }> {
  const { clock, logOutput, print } = request;
  const folder = mkdtempSync(path.join(tmpdir(), 'trackport-sandbox-'));
  cleanup.push('the temporary folder', () => rmSync(folder, { recursive: true, force: true }));
  const { host, logLevel } = configFor(request, UNCONNECTED).server;
  const log = createLog(logLevel, logOutput);
  const sandbox = await startSandbox({ clock, log }, { host });
  cleanup.push('the sandbox', () => sandbox.close());
  const store = { url: `sqlite:${path.join(folder, 'trackport.db')}` };
  const config = configFor(request, { ...sandbox.config, store });
  const tracing = readTracing(request.environment);
  const service = await startService({ config, clock, log, logOutput, tracing });
  cleanup.push('the service', () => service.stop());
  sandbox.connectWebhook(`${service.url}${GITHUB_WEBHOOK_PATH}`);
  const apiKey = await createDemoKey(service);
  const configPath = path.join(folder, 'trackport.yaml');
  const server = { host, port: Number(new URL(service.url).port), publicUrl: service.url };
  writeConfig(configPath, { server, store, ...sandbox.config });
  const { url } = service;
  const program = { command: PROGRAM_COMMAND, openapi: fileURLToPath(programUrl('openapi.json')) };
  print(renderBanner({ ...sandbox.facts, url, now: clock.now(), apiKey, configPath, program }));
  log.info({ version: VERSION, commit: COMMIT, url: service.url }, 'listening');
  return { log, service };
}

/** Stands in until the sandbox's tracker has an address. */
const UNCONNECTED = { tracker: { repository: 'acme/leads', auth: { token: 'none' } } };

/** Variables for the real thing must not make a sandbox of half of it. */
function configFor(
  { environment, port }: SandboxRequest,
  settings: Readonly<Record<string, unknown>>,
): Config {
  const allowed = Object.entries(environment).filter(
    ([name]) =>
      !name.startsWith('TRACKPORT_') ||
      (name.startsWith('TRACKPORT_SERVER_') && name !== 'TRACKPORT_SERVER_PUBLIC_URL'),
  );
  return loadConfig({ environment: Object.fromEntries(allowed), port, settings });
}

/** Describes the running sandbox to the command line, in another terminal; for its owner's eyes. */
function writeConfig(file: string, settings: Readonly<Record<string, unknown>>): void {
  const head = '# The sandbox that is running now. Its secrets work nowhere else.\n';
  writeFileSync(file, `${head}${stringify(settings)}`, { mode: 0o600, flag: 'wx' });
}

async function createDemoKey({ access }: Service): Promise<string> {
  const { issued } = await access.consumers.create(
    {
      name: 'sandbox',
      grants: [{ action: 'leads:read' }, { action: 'catalog:read', workspace: 'default' }],
    },
    { actor: { kind: 'system', subject: 'sandbox' } },
  );
  return issued.key.reveal();
}

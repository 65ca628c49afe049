import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { loadConfig } from '#config/load.ts';
import { type Environment, readTracing } from '#config/environment.ts';
import type { Config } from '#config/schema/schema.ts';
import { GITHUB_WEBHOOK_PATH } from '#http/routes/github-webhook.ts';
import { renderBanner } from '#sandbox/banner.ts';
import { startSandbox } from '#sandbox/sandbox.ts';
import { startTrackerOnly, type TrackerOnlyOptions } from '#sandbox/tracker-only.ts';
import type { Log } from '#shared/log.ts';
import { COMMIT, PROGRAM_COMMAND, programUrl, VERSION } from '#shared/program.ts';
import { type Program, type Service, startService } from './service.ts';
import { createLog } from '#adapters/pino/log.ts';
import { listenError } from './start-error.ts';

export type SandboxRequest = {
  /** `--port`, as it was typed. */
  port: string | undefined;
  /** Gets what to do with it once everything listens. */
  print: (text: string) => void;
  /** Ends the start. */
  stopping?: AbortSignal;
};

/**
 * Everything on this machine: the sandbox's tracker with sample leads, and the real service on an
 * empty store in a temporary folder, configured for it. Only keys of `server` can be set
 * from outside. @throws {validation-failed} when `server.host` is not loopback
 */
export async function startSandboxService(
  program: Program,
  request: SandboxRequest,
): Promise<{ url: string; stop(): Promise<void>; reload(): void }> {
  const cleanup = new AsyncDisposableStack();
  try {
    const { log, service } = await start(program, request, cleanup);
    return {
      url: service.url,
      reload: () => tellNothingToReload(log),
      stop: async () => {
        await service.stop();
        await cleanup.disposeAsync();
      },
    };
  } catch (error) {
    await cleanup.disposeAsync().catch(() => undefined);
    throw error;
  }
}

async function start(
  { clock, environment, logOutput }: Program,
  { port, print, stopping }: SandboxRequest,
  cleanup: AsyncDisposableStack,
): Promise<{ log: Log; service: Service }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'trackport-sandbox-'));
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }));
  const { host, logLevel } = configFor(environment, port, UNCONNECTED).server;
  const log = createLog(logLevel, logOutput);
  const sandbox = await startSandbox({ clock, log }, { host });
  cleanup.defer(() => sandbox.close());
  const store = { url: `sqlite:${path.join(folder, 'trackport.db')}` };
  const config = configFor(environment, port, { ...sandbox.config, store });
  const tracing = readTracing(environment);
  const service = await startService({ config, clock, log, logOutput, tracing, stopping });
  cleanup.defer(() => service.stop());
  sandbox.connectWebhook(`${service.url}${GITHUB_WEBHOOK_PATH}`);
  const apiKey = await createDemoKey(service);
  const configPath = path.join(folder, 'trackport.yaml');
  const server = { host, port: Number(new URL(service.url).port), publicUrl: service.url };
  writeConfig(configPath, { server, store, ...sandbox.config });
  const { url } = service;
  const program = { command: PROGRAM_COMMAND, openapi: fileURLToPath(programUrl('openapi.json')) };
  print(renderBanner({ ...sandbox.access, url, now: clock.now(), apiKey, configPath, program }));
  log.info({ version: VERSION, commit: COMMIT, url: service.url }, 'listening');
  return { log, service };
}

/** Stands in until the sandbox's tracker has an address. */
const UNCONNECTED = { tracker: { repository: 'acme/leads', auth: { token: 'none' } } };

/** Variables for the real thing must not make a sandbox of half of it. */
function configFor(
  environment: Environment,
  port: string | undefined,
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

/** The sandbox's tracker alone: `trackport sandbox --tracker-only`. @throws {StartError} for a port that is taken */
export async function startSandboxTracker(
  { clock, logOutput }: Program,
  request: TrackerOnlyOptions & Pick<SandboxRequest, 'print'>,
): Promise<{ stop(): Promise<void>; reload(): void }> {
  const { print, port } = request;
  const log = createLog('info', logOutput);
  const { tracker, config } = await startTrackerOnly(clock, request).catch((error: unknown) =>
    Promise.reject(listenError(error, { host: '127.0.0.1', port })),
  );
  const service = URL.parse(request.webhookUrl ?? '')?.origin;
  print(renderConfig(tracker.url, { ...serverOf(service), ...config }));
  log.info({ version: VERSION, commit: COMMIT, url: tracker.url }, 'listening');
  return {
    stop: () => tracker.close(),
    reload: () => tellNothingToReload(log),
  };
}

function tellNothingToReload(log: Log): void {
  log.info({}, 'nothing to reload: the sandbox has no configuration file');
}

/** Settings of the service that the tracker's webhook leads to. */
function serverOf(service: string | undefined) {
  if (service === undefined) return {};
  const { port } = new URL(service);
  return { server: { ...(port !== '' && { port: Number(port) }), publicUrl: service } };
}

function renderConfig(trackerUrl: string, settings: Readonly<Record<string, unknown>>): string {
  return `# A stand-in for GitHub: made-up leads, on this machine only, as long as this runs. Its page: ${trackerUrl}/
# To begin with, as trackport.yaml, in another terminal; what is missing has its default:
#   ${PROGRAM_COMMAND} doctor --fix --config trackport.yaml
#   ${PROGRAM_COMMAND} serve --config trackport.yaml
#   ${PROGRAM_COMMAND} consumer create "Sales tool" --grant leads:read --config trackport.yaml
${stringify(settings)}`;
}

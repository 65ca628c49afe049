/** Steps of every part with a service: configure, start, make a key, wait. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { SANDBOX_ADMIN_TOKEN } from '#sandbox/tracker/tracker.ts';
import { output, type Running, start } from './processes.ts';
import { REPOSITORY } from './stores.ts';

export type ConfigOptions = {
  storeUrl: string;
  trackerUrl: string;
  /** Keys by section, above those that every service of the bench has. */
  settings?: Record<string, Record<string, unknown>>;
};

let written = 0;

/** Writes a configuration into the folder and answers its path. */
export function writeConfig(
  folder: string,
  { storeUrl, trackerUrl, settings = {} }: ConfigOptions,
): string {
  const config = {
    secretKey: Buffer.alloc(32, 1).toString('base64'),
    ...settings,
    server: { port: 0, ...settings['server'] },
    store: { url: storeUrl },
    tracker: {
      repository: REPOSITORY,
      apiUrl: trackerUrl,
      auth: { token: SANDBOX_ADMIN_TOKEN },
      ...settings['tracker'],
    },
    consumers: { limitPerMinute: 1_000_000 },
  };
  const file = path.join(folder, `trackport-${(written += 1)}.yaml`);
  writeFileSync(file, JSON.stringify(config)); // JSON is YAML
  return file;
}

/** The key of a new consumer: no measurement uses up the limit of the next one. */
export async function createKey(config: string): Promise<string> {
  const args = ['consumer', 'create', 'bench', '--grant=leads:read', '--force', '--json'];
  const created = await output(['bin/trackport.js', ...args, '--config', config]);
  return (JSON.parse(created) as { key: string }).key;
}

/** The sandbox's tracker in a process of its own, with so many rows. */
export function startTracker(issues: number, { latencyMs = 0 } = {}): Promise<Running> {
  const options = [`--issues=${issues}`, `--latency=${latencyMs}ms`, `--quota=${QUOTA}`];
  const command = ['bin/trackport.js', 'sandbox', '--tracker-only', '--port=0', '--no-webhook'];
  return start([...command, ...options]);
}

/** More than GitHub allows. */
const QUOTA = 100_000_000;

/** Starts the program, with more in its environment. */
export function serve(config: string, env: NodeJS.ProcessEnv = {}): Promise<Running> {
  return start(['bin/trackport.js', 'serve', '--config', config], env);
}

/** Surroundings that samples of the documents expect: a shell, a sandbox, names in the environment. */
import { spawn, spawnSync } from 'node:child_process';
import { text as textOf } from 'node:stream/consumers';
import { afterAll } from 'vitest';
import { scratchFolder } from '../../support/at-exit.ts';
import { plainEnvironment, programFile } from '../../support/program.ts';
import { listening, trackport } from './process.ts';

type Environment = Record<string, string>;

/** True when this machine has all of these programs; says which one it lacks. */
export function hasTools(...tools: string[]): boolean {
  const missing = tools.filter((tool) => spawnSync(tool, ['--version']).error !== undefined);
  if (missing.length > 0)
    process.stderr.write(`No ${missing.join(', ')} here: samples that need it are left out.\n`);
  return missing.length === 0;
}

/** `trackport …` as the documents write it, without the second that npm takes. */
const command = (): string => `trackport() { '${process.execPath}' '${programFile()}' "$@"; }`;

/**
 * A sandbox for the tests of a file, called beside them; what they get is what samples expect in the environment.
 * Things that a test makes there have names of their own.
 */
export function shareSampleSandbox(): () => Promise<Environment> {
  const ends: (() => unknown)[] = [];
  afterAll(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });
  let opened: Promise<Environment> | undefined;
  const open = (): Promise<Environment> => {
    const folder = scratchFolder('samples');
    ends.push(() => folder[Symbol.dispose]());
    return openSandbox(folder.path, (end) => void ends.push(end));
  };
  return () => (opened ??= open());
}

async function openSandbox(
  folder: string,
  atEnd: (end: () => Promise<void>) => void,
): Promise<Environment> {
  const options = { environment: { TMPDIR: folder }, atEnd };
  const service = trackport(['sandbox', '--port', '0'], options);
  const url = await listening(service);
  const banner = service.stdout();
  const find = (pattern: RegExp): string => pattern.exec(banner)?.[1] ?? '';
  return {
    ...plainEnvironment(),
    URL: url,
    TRACKPORT_URL: url,
    TRACKER: find(/Tracker:\s+(\S+)\//),
    CONFIG: find(/Config:\s+(\S+)/),
    TRACKPORT_KEY: find(/(tpk_\w+)/),
    CRM_ONE_SECRET: find(/-hmac '([^']+)' -r/),
    CRM_TWO_SECRET: find(/-hmac '([^']+)' -binary/),
    CLIENT_ID: find(/-u '([^:]+):/),
    CLIENT_SECRET: find(/-u '[^:]+:([^']+)'/),
    TOKEN_ENDPOINT: find(/scope=[^']*' (http\S+token)\b/),
  };
}

export type Ran = { code: number | null; out: string; err: string };

/** Runs lines in a shell that stops at the first failure; `trackport.yaml` is `$CONFIG`. */
export async function runLines(lines: string, env: Environment, shell = 'sh'): Promise<Ran> {
  const script = `${command()}\n${lines.replaceAll('--config trackport.yaml', '--config "$CONFIG"')}`;
  // A session of its own has no terminal to ask a password at, and reads its input instead.
  const child = spawn(shell, ['-ec', script], {
    env: { ...plainEnvironment(), ...env },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => undefined); // a program that reads nothing may have ended
  child.stdin.end(env['INPUT'] ?? '');
  const ended = new Promise<number | null>((resolve) => void child.once('close', resolve));
  const [out, err] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  return { code: await ended, out, err };
}

/** The same, for what has to succeed: what it printed. @throws with what it complained of */
export async function runWell(lines: string, env: Environment, shell?: string): Promise<string> {
  const { code, out, err } = await runLines(lines, env, shell);
  if (code !== 0) throw new Error(`exit code ${code}\n${out}${err}`);
  return out;
}

/** Environment of a shell after `export NAME=value` lines, with these values for theirs. */
export async function exportedBy(block: string, values: Environment): Promise<Environment> {
  const lines = block.replaceAll(/(\w+)=(\S+)/g, (_, name: string, shown: string) => {
    const value = values[name] ?? shown;
    if (value === '…') throw new Error(`nothing stands for the … of ${name}`);
    return `${name}='${value}'`;
  });
  const print = `'${process.execPath}' -p 'JSON.stringify(process.env)'`;
  return JSON.parse(await runWell(`${lines}${print}`, {})) as Environment;
}

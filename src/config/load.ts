import { isRecord, lookUp } from '#shared/text/json.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { readYaml, type YamlFault } from '#shared/text/yaml.ts';
import { crossCheck } from './schema/cross-checks.ts';
import {
  applyOverrides,
  coerceScalars,
  type Environment,
  interpolate,
  readFileText,
  readOverrides,
  withValue,
} from './environment.ts';
import { ConfigError, pathText, type Problem, toProblems } from './problems.ts';
import { type Config, configSchema } from './schema/schema.ts';

export type ConfigRequest = {
  /** The YAML file of `--config`; without one the environment alone configures. */
  file?: string;
  environment: Environment;
  /** `--port`, as it was typed. */
  port?: string;
  /** Keys that stand above file and environment. */
  settings?: Readonly<Record<string, unknown>>;
};

/** Compiling a parser for each object, as zod does, takes longer than to parse it once without. */
const WITHOUT_COMPILING = { jitless: true } as const;

/**
 * The configuration from the file, then the environment, then `settings`; for the port `--port`
 * and `PORT` come before `server.port`. Everything else has the defaults of the schema.
 * @throws {ConfigError} with every problem at once
 */
export function loadConfig(request: ConfigRequest): Config {
  const source =
    request.file ?? 'The configuration (no file: neither --config nor TRACKPORT_CONFIG names one)';
  const fromFile = request.file === undefined ? {} : readFile(request.file);
  const { overrides, problems: misspelt } = readOverrides(request.environment, fromFile);
  const layered = layer(applyOverrides(fromFile, overrides), request.settings);
  const named = new Map(overrides.map(({ name, path }) => [pathText(path), name]));
  const { value, sources, problems: missing } = interpolate(layered, request.environment);
  const { given: typed, problems: ports } = withPort(withTracker(value), request);
  // Finding out which texts stand for numbers takes time that most starts need not spend.
  const asTyped = configSchema.safeParse(typed, WITHOUT_COMPILING);
  const given = asTyped.success ? typed : coerceScalars(typed);
  const parsed = asTyped.success ? asTyped : configSchema.safeParse(given, WITHOUT_COMPILING);
  const findings = { given, sources: new Map([...named, ...sources]) };
  const refused = [
    ...(parsed.success ? [] : toProblems(parsed.error.issues, findings)),
    ...crossCheck(given),
  ].filter((problem) => !missing.some(({ path }) => problem.path === path));
  const problems = [...misspelt, ...missing, ...ports, ...refused];
  if (!parsed.success || problems.length > 0) throw new ConfigError(source, problems);
  return deepFreeze(parsed.data);
}

function readFile(file: string): unknown {
  const read = readYaml(readText(file));
  if ('faults' in read) throw new ConfigError(file, read.faults.map(toProblem));
  const content = read.value;
  if (content === null || content === undefined) return {};
  if (isRecord(content)) return content;
  throw new ConfigError(file, [{ path: '', found: 'no keys', allowed: 'YAML with keys' }]);
}

function toProblem({ line, column, message }: YamlFault): Problem {
  const found = `no YAML (${message})`;
  return { path: `line ${line}, column ${column}`, found, allowed: 'one document of YAML 1.2' };
}

function readText(file: string): string {
  const read = readFileText(file);
  if ('text' in read) return read.text;
  const problem = { path: file, found: 'nothing readable', allowed: read.expected };
  throw new ConfigError('--config', [problem]);
}

/** Maps are merged key by key; everything else is replaced. */
function layer(below: unknown, above: unknown): unknown {
  if (!isRecord(below) || !isRecord(above)) return above === undefined ? below : above;
  const merged: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) merged[key] = layer(merged[key], value);
  return merged;
}

/** Without the section that is always needed, each of its needed keys is named. */
function withTracker(given: unknown): unknown {
  return lookUp(given, ['tracker']) === undefined ? withValue(given, ['tracker'], {}) : given;
}

function withPort(
  given: unknown,
  { port, environment }: ConfigRequest,
): { given: unknown; problems: Problem[] } {
  const fromVariable = environment['PORT'] === '' ? undefined : environment['PORT'];
  const [path, text] = port === undefined ? ['PORT', fromVariable] : ['--port', port];
  if (text === undefined) return { given, problems: [] };
  const allowed = 'a whole number from 0 to 65535';
  if (!isPort(text)) return { given, problems: [{ path, found: JSON.stringify(text), allowed }] };
  const server = lookUp(given, ['server']);
  if (server !== undefined && !isRecord(server)) return { given, problems: [] };
  // A wrong port of the file stays a problem: it would stop the next start without --port.
  const below = lookUp(given, ['server', 'port']);
  if (below !== undefined && !isPort(below)) return { given, problems: [] };
  return { given: withValue(given, ['server', 'port'], Number(text)), problems: [] };
}

function isPort(value: unknown): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  return /^\d{1,5}$/.test(value.toString()) && Number(value) <= 65_535;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !(value instanceof Secret)) {
    for (const part of Object.values(value)) deepFreeze(part);
    Object.freeze(value);
  }
  return value;
}

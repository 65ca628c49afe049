/**
 * The environment, as the configuration reads it: variables that set keys, references of values to variables and files,
 * and OpenTelemetry's own.
 */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { isRecord, lookUp } from '#shared/text/json.ts';
import { nearest } from '#shared/text/near-miss.ts';
import { systemCodeOf } from '#shared/errors.ts';
import { allKeyPaths, configKeys, type KeyNode, type KeyPath, nodeAt } from './schema/key-tree.ts';
import { pathText, type Problem } from './problems.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Prefix of the variables that set keys. Each key has one: its path in capitals, joined by underscores, with
 * `camelCase` split (`server.publicUrl` is `TRACKPORT_SERVER_PUBLIC_URL`). Names that the file gives
 * (partners, form fields) are part of it in capitals, with every other character as an underscore.
 * Lists are comma-separated or a YAML flow list; whole sections are YAML flow maps.
 */
const PREFIX = 'TRACKPORT_';
/** No keys: the command line's, and what Kubernetes sets in every pod for a service that is named trackport. */
const OTHERS = /^TRACKPORT_(?:(?:CONFIG|TOKEN|CLIENT_SECRET|PORT)$|PORT_\d|SERVICE_)/;

/** A variable that differs from ours by more letters is somebody else's. */
const DIFFERENCES_MAX = 2;

type Override = { name: string; path: KeyPath; value: unknown };

/** Reads the keys that the environment sets; names that are nearly those of a key are problems. */
export function readOverrides(
  environment: Environment,
  given: unknown,
): { overrides: Override[]; problems: Problem[] } {
  const overrides: Override[] = [];
  const problems: Problem[] = [];
  for (const [name, text] of Object.entries(environment)) {
    if (!name.startsWith(PREFIX) || text === undefined || OTHERS.test(name)) continue;
    const path = resolveName(configKeys(), given, name.slice(PREFIX.length));
    if (path) overrides.push({ name, path, value: readValue(nodeAt(configKeys(), path), text) });
    else problems.push(...misspelt(name, given));
  }
  // A section comes before its keys, so that both can be set.
  overrides.sort((left, right) => left.path.length - right.path.length);
  return { overrides, problems };
}

/** The variable that sets a key: `server.publicUrl` → `TRACKPORT_SERVER_PUBLIC_URL`. */
function variableOf(path: KeyPath): string {
  return PREFIX + path.map((part) => toSegment(String(part))).join('_');
}

/** `given` with every override put in its place. */
export function applyOverrides(given: unknown, overrides: readonly Override[]): unknown {
  let tree = given;
  for (const { path, value } of overrides) tree = withValue(tree, path, value);
  return tree;
}

/** A copy of a tree with one value replaced; what is missing on the way is made. */
export function withValue(tree: unknown, [key, ...rest]: KeyPath, value: unknown): unknown {
  if (key === undefined) return value;
  const base = isRecord(tree) ? tree : {};
  return { ...base, [key]: withValue(lookUp(base, [key]), rest, value) };
}

function resolveName(node: KeyNode, given: unknown, rest: string): KeyPath | undefined {
  const named = node.entry && isRecord(given) ? Object.keys(given) : [];
  const keys = [...node.keys.keys(), ...named].sort((left, right) => right.length - left.length);
  for (const key of keys) {
    const segment = toSegment(key);
    if (rest === segment) return [key];
    const below = node.keys.get(key) ?? node.entry;
    if (!below || !rest.startsWith(`${segment}_`)) continue;
    const found = resolveName(below, lookUp(given, [key]), rest.slice(segment.length + 1));
    if (found) return [key, ...found];
  }
  return undefined;
}

function toSegment(key: string): string {
  return key
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]/g, '_')
    .toUpperCase();
}

function readValue(node: KeyNode | undefined, text: string): unknown {
  if (!node) return text;
  const trimmed = text.trim();
  const isList = node.types.has('array');
  if ((isList && trimmed.startsWith('[')) || (node.types.has('object') && isFlowMap(trimmed)))
    return parseFlow(trimmed) ?? text;
  const isFlag = node.types.has('boolean') && /^(?:true|false)$/.test(trimmed);
  if (!isList || node.types.has('string') || isFlag) return text;
  return trimmed === '' ? [] : trimmed.split(',').map((item) => item.trim());
}

function isFlowMap(text: string): boolean {
  return text.startsWith('{') && text.endsWith('}');
}

function parseFlow(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function misspelt(name: string, given: unknown): Problem[] {
  const partners = lookUp(given, ['partners']);
  const ids = isRecord(partners) ? Object.keys(partners) : [];
  const known = allKeyPaths()
    .flatMap((path) => [path, ...ids.map((id) => path.replace('partners.*', `partners.${id}`))])
    .map((path) => variableOf(path.split('.')));
  const meant = nearest(name, known, DIFFERENCES_MAX);
  if (meant === undefined) return [];
  return [
    {
      path: name,
      found: 'a variable that sets no key',
      allowed: 'the name of a key in capitals',
      suggestion: `did you mean ${meant}?`,
    },
  ];
}

/** Text that stands where a number or a flag is wanted, as that number or flag. */
export function coerceScalars(value: unknown, node: KeyNode | undefined = configKeys()): unknown {
  if (!node) return value;
  if (typeof value === 'string') return coerce(value, node.types);
  if (Array.isArray(value)) return value.map((item) => coerceScalars(item, node.entry));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      coerceScalars(item, node.keys.get(key) ?? node.entry),
    ]),
  );
}

function coerce(text: string, types: ReadonlySet<string>): unknown {
  if (types.has('string')) return text;
  const isNumber = types.has('integer') || types.has('number');
  if (isNumber && /^-?\d{1,15}$/.test(text)) return Number(text);
  return types.has('boolean') && /^(?:true|false)$/.test(text) ? text === 'true' : text;
}

type Interpolated = {
  value: unknown;
  /** Path text → the references that stood there. */
  sources: Map<string, string>;
  problems: Problem[];
};

const REFERENCE = /\$(\$?)\{([^}]*)\}/g;
const VARIABLE_NAME = /^[A-Za-z_]\w*$/;

/**
 * Every text of the tree with `${NAME}` and `${file:PATH}` replaced; `$${` stands for `${`. Paths
 * are taken from the working directory. A reference to something missing is a problem.
 */
export function interpolate(tree: unknown, environment: Environment): Interpolated {
  const sources = new Map<string, string>();
  const problems: Problem[] = [];

  const visit = (value: unknown, path: KeyPath): unknown => {
    if (typeof value === 'string') return replace(value, path);
    if (Array.isArray(value)) return value.map((item, at) => visit(item, [...path, at]));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, visit(item, [...path, key])]),
    );
  };

  const replace = (text: string, path: KeyPath): string => {
    const references: string[] = [];
    const replaced = text.replaceAll(REFERENCE, (whole, escape: string, name: string) => {
      if (escape) return whole.slice(1);
      references.push(whole);
      const found = resolve(name, environment);
      if (found.kind === 'value') return found.value;
      problems.push({ path: pathText(path), found: whole, allowed: found.allowed });
      return whole;
    });
    if (references.length > 0) sources.set(pathText(path), references.join(' '));
    return replaced;
  };

  return { value: visit(tree, []), sources, problems };
}

type Resolved = { kind: 'value'; value: string } | { kind: 'missing'; allowed: string };

function resolve(name: string, environment: Environment): Resolved {
  if (name.startsWith('file:')) return readReference(name.slice('file:'.length));
  if (!VARIABLE_NAME.test(name))
    return { kind: 'missing', allowed: '${NAME} or ${file:PATH} (write $${ for a plain ${)' };
  const value = environment[name];
  return value === undefined
    ? { kind: 'missing', allowed: `the environment variable ${name} to be set` }
    : { kind: 'value', value };
}

function readReference(path: string): Resolved {
  const read = readFileText(path);
  return 'text' in read
    ? { kind: 'value', value: read.text.trim() }
    : { kind: 'missing', allowed: read.expected };
}

/** A file's text, else what is expected in its place. */
type FileText = { text: string } | { expected: string };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The text of a file without its byte order mark. Bytes that are no UTF-8 are refused: read as
 * U+FFFD they would make another label or another secret of what was meant.
 */
export function readFileText(path: string): FileText {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    const code = systemCodeOf(error) ?? 'unknown failure';
    const reason = code === 'ENOENT' ? 'ENOENT: there is none' : code;
    return { expected: `a file that can be read (${reason})` };
  }
  try {
    return { text: utf8.decode(bytes) };
  } catch {
    return { expected: 'text in UTF-8, which the bytes of the file are not' };
  }
}

/** Settings of traces. OpenTelemetry's exporter itself reads where they go. */
type TracingSettings = {
  /** The part of all traces that is recorded: 0 to 1. */
  sampledRatio: number;
};

export type TracingChoice = {
  /** Undefined: traces are off. */
  settings?: TracingSettings;
  /** The variable whose value keeps them off although they are wanted. */
  unsupported?: string;
};

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
const PROTOCOLS = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'];

/**
 * Reads OpenTelemetry's variables: an endpoint, or the exporter `otlp`, asks for traces. A value that
 * cannot be honoured keeps them off and never stops a start.
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export function readTracing(environment: Environment): TracingChoice {
  const read = (name: string): string | undefined => environment[name]?.trim() || undefined;
  if (read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return {};
  const exporter = read('OTEL_TRACES_EXPORTER');
  const hasEndpoint = ENDPOINTS.some((name) => read(name) !== undefined);
  if (exporter === 'none' || (exporter === undefined && !hasEndpoint)) return {};
  if (exporter !== undefined && exporter !== 'otlp') return { unsupported: 'OTEL_TRACES_EXPORTER' };
  const protocol = PROTOCOLS.find((name) => read(name) !== undefined);
  // Collectors take protobuf and JSON at the same address, but gRPC at another.
  if (protocol !== undefined && !read(protocol)?.startsWith('http/'))
    return { unsupported: protocol };
  const sampledRatio = ratioOf(read('OTEL_TRACES_SAMPLER'), read('OTEL_TRACES_SAMPLER_ARG'));
  if (sampledRatio === undefined) return { unsupported: 'OTEL_TRACES_SAMPLER' };
  return { settings: { sampledRatio } };
}

/** Partners' calls begin traces of their own, so that with or without `parentbased_` is the same. */
function ratioOf(sampler = 'always_on', argument = '1'): number | undefined {
  const ratio = Number(argument);
  switch (sampler.replace(/^parentbased_/, '')) {
    case 'always_on':
      return 1;
    case 'always_off':
      return 0;
    case 'traceidratio':
      return ratio >= 0 && ratio <= 1 ? ratio : 1;
    default:
      return undefined;
  }
}

/** What the primary process and those that serve say to each other. */
import type { Config } from '#config/schema/schema.ts';
import type { Readiness } from '#http/routes/operations/readiness.ts';
import { Secret } from '#shared/crypto/secret.ts';

import type { ProcessMetrics } from './combine.ts';

/** A configuration that can be sent: secrets are marked, for a class does not survive the way. */
export type PackedConfig = { packed: unknown };

/** What a process can be asked about itself, with what it says. */
export type OwnReport = { isHealthy: true; readiness: Readiness; metrics: ProcessMetrics };
/** The same of the service as a whole. */
export type WholeReport = { isHealthy: boolean; readiness: Readiness; metrics: string };
export type Topic = keyof OwnReport;

export type ToChild =
  | { kind: 'start'; config: PackedConfig }
  | { kind: 'reload'; config: PackedConfig }
  | { kind: 'stop' }
  | { kind: 'ask'; id: number; topic: Topic }
  /** `report` is absent when it could not be made. */
  | { kind: 'whole'; id: number; report?: WholeReport[Topic] };

export type ToPrimary =
  /** Listens for messages. */
  | { kind: 'hello' }
  | { kind: 'listening'; url: string }
  /** It cannot start, for a reason that people can do something about. */
  | { kind: 'failed'; detail: string; isStoreAway: boolean }
  | { kind: 'own'; id: number; report?: OwnReport[Topic] }
  | { kind: 'ask'; id: number; topic: Topic };

const MARK = 'a secret of the configuration';

/** Makes a configuration ready to be sent. */
export function packConfig(config: Config): PackedConfig {
  return { packed: pack(config) };
}

/** The configuration that was packed. */
export function unpackConfig({ packed }: PackedConfig): Config {
  return unpack(packed) as Config;
}

function pack(value: unknown): unknown {
  if (value instanceof Secret) return { [MARK]: value.reveal() };
  if (Array.isArray(value)) return value.map(pack);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, pack(part)]));
}

function unpack(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map(unpack));
  if (!isObject(value)) return value;
  const secret = value[MARK];
  if (typeof secret === 'string') return new Secret(secret);
  return Object.freeze(
    Object.fromEntries(Object.entries(value).map(([key, part]) => [key, unpack(part)])),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

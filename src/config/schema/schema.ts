import { z } from 'zod';
import { DAY, HOUR, MINUTE, SECOND } from '#shared/clock.ts';
import { PARTNER_ID } from '#shared/ids.ts';
import type { Secret } from '#shared/crypto/secret.ts';
import { partner } from './partner-schema.ts';
import {
  browserOrigin,
  duration,
  exactHttpUrl,
  fieldNames,
  flag,
  httpUrl,
  integer,
  labelName,
  line,
  list,
  named,
  positive,
  proxyAddress,
  section,
  shaped,
  size,
  storeUrl,
  trackerName,
  word,
  keyMaterial,
  pemKey,
  secret,
} from './values.ts';

const PORT_MAX = 65_535;
/** Defaults that checks across keys need, too: these see only the keys that are given. */
export const defaults = {
  port: 8080,
  approvedLabel: 'approved',
  deletedLabel: 'deleted-by-partner',
} as const;

const server = section({
  host: line('a host name or address').prefault('127.0.0.1'),
  port: integer(0, PORT_MAX).prefault(defaults.port),
  publicUrl: httpUrl().optional(),
  trustProxy: z
    .union([z.boolean(), list(proxyAddress(), 'addresses')], {
      error: 'true, false, or a list of the addresses of your proxies',
    })
    .prefault(false),
  cors: list(browserOrigin(), 'origins').prefault([]),
  opsPort: integer(0, PORT_MAX).optional(),
  securityContact: shaped(
    /^(?:(?:mailto:)?[^\s:@<>]+@[^\s:@<>]+|https:\/\/[^\s<>]+|tel:\+?[\d().-]+)$/,
    'an e-mail address, or an address with mailto:, https: or tel:',
  ).optional(),
  refusedPerMinute: integer(1, 1_000_000).prefault(300),
  stopDelay: duration(0, 5 * MINUTE).prefault('0s'),
  logLevel: word(['error', 'warn', 'info', 'debug']).prefault('info'),
});

const store = section({
  url: storeUrl().meta({ writeOnly: true }).prefault('sqlite:data/trackport.db'),
});

/** A whole number, or the same in quotation marks. */
const numericId = (allowed: string) =>
  z
    .union([positive(allowed), shaped(/^[1-9]\d{0,15}$/, allowed)], { error: allowed })
    .transform(String);

const APP_ID = "the App's id or client id";

const trackerAuth = section(
  {
    token: secret('a token').optional(),
    appId: z
      .union([positive(APP_ID), shaped(/^[\w.-]{1,64}$/, APP_ID)], { error: APP_ID })
      .transform(String)
      .optional(),
    installationId: numericId("the number of the App's installation").optional(),
    privateKey: pemKey("the App's private key as PEM text").optional(),
  },
  'token, or appId, installationId and privateKey',
);

const tracker = section({
  repository: shaped(
    /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})\/(?!\.{1,2}$)[\w.-]{1,100}$/,
    'owner/name, such as acme/leads',
  ),
  apiUrl: httpUrl().prefault('https://api.github.com'),
  auth: trackerAuth,
  adminToken: secret('a token').optional(),
  webhookSecrets: list(secret(), 'secrets', { max: 10 }).prefault([]),
  writeInterval: duration(0, MINUTE).prefault('1s'),
  requestTimeout: duration(100, MINUTE).prefault('5s'),
});

const HEADING_CHARACTERS_MAX = 200;
const heading = line('the heading as the issue form shows it, without ###').refine(
  (text) => text.length <= HEADING_CHARACTERS_MAX,
  { error: `a heading of at most ${HEADING_CHARACTERS_MAX} characters` },
);

const formField = z.union(
  [heading, z.strictObject({ heading, multiline: flag().optional(), expose: flag().optional() })],
  { error: 'a heading, or { heading, multiline, expose }' },
);

const form = named(
  formField,
  fieldNames,
  'the fields of the issue form in its order, each with its heading',
).transform((fields) =>
  Object.entries(fields).map(([name, field]) => {
    const { heading, multiline, expose } = typeof field === 'string' ? { heading: field } : field;
    return {
      name,
      heading,
      multiline: multiline ?? name === 'message',
      ...(expose === true && { expose }),
    };
  }),
);

const leads = section({
  approvedLabel: labelName().prefault(defaults.approvedLabel),
  priorityLabelPrefix: z
    .string({ error: 'the beginning of a label' })
    .min(1, { error: 'the beginning of a label' })
    .prefault('priority:'),
  form: form.prefault({
    firstName: 'First name',
    email: 'Email',
    company: 'Company',
    interest: 'Interest',
    message: { heading: 'Message', multiline: true },
    sourcePage: 'Source page',
  }),
  portalAuthors: list(line('a login'), 'logins').prefault([]),
  url: flag().prefault(false),
  issueFields: named(
    trackerName('a typed field of the tracker'),
    fieldNames,
    "names of the tracker's typed fields, each by the name that readers get",
  ).prefault({}),
  freshFor: duration(0, HOUR).prefault('15s'),
  staleIfError: duration(0, 30 * DAY).prefault('1h'),
  feedInterval: duration(SECOND, HOUR).prefault('1m'),
  cacheSizeMax: size('64KiB', '64GiB').prefault('64MiB'),
});

const algorithm = word([
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]);

const identity = section({
  issuer: exactHttpUrl(),
  audience: line('the audience that tokens must carry'),
  jwksUri: exactHttpUrl().optional(),
  algorithms: list(algorithm, 'signature algorithms', { min: 1, max: 11 }).prefault([
    'RS256',
    'PS256',
    'ES256',
    'EdDSA',
  ]),
  tokenType: word(['any', 'at+jwt']).prefault('any'),
  scopeClaim: line('the name of a token claim').prefault('scope'),
  workspaceClaim: line('the name of a token claim').prefault('workspace_id'),
  clockTolerance: duration(0, 5 * MINUTE).prefault('5s'),
});

const portal = section({
  clientId: line('the client id that the issuer knows'),
  clientSecret: secret().optional(),
  resource: shaped(/^[a-z][a-z\d+.-]*:[^\s#]+$/i, 'an absolute URI without a fragment').optional(),
  scopes: list(shaped(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'a scope'), 'scopes', { min: 1 }).prefault([
    'openid',
    'profile',
    'catalog:read',
    'catalog:write',
    'catalog:publish',
    'trackport:admin',
  ]),
});

const partners = named(
  partner,
  {
    pattern: PARTNER_ID,
    allowed: 'a partner id of 1 to 63 small letters, digits and hyphens',
  },
  'partners by their ids',
);

const deletions = section({
  deletedLabel: labelName().prefault(defaults.deletedLabel),
  retry: list(duration(1, 30 * DAY), 'waits', { min: 1, max: 50 }).prefault(
    '5s 30s 2m 10m 30m 1h 2h 4h 8h 8h'.split(' '),
  ),
});

const upperWord = shaped(/^[A-Z][A-Z0-9_]{0,63}$/, 'a word of capital letters, such as DATASET');

const catalog = section({
  types: list(upperWord, 'words').prefault([]),
  sources: list(upperWord, 'words').prefault([]),
  findings: word(['block', 'warn']).prefault('block'),
  compatibility: word(['off', 'warn', 'block']).prefault('warn'),
  public: list(line('the id of a workspace'), 'workspaces', { max: 20 }).prefault([]),
});

const consumers = section({ limitPerMinute: integer(1, 1_000_000).prefault(600) });

/**
 * Every key of the configuration with its default. `config/default.yaml` explains each;
 * `config/schema.json` is made from this.
 */
export const configSchema = section({
  server: server.prefault({}),
  secretKey: keyMaterial().optional(),
  store: store.prefault({}),
  tracker,
  leads: leads.prefault({}),
  identity: identity.optional(),
  portal: portal.optional(),
  partners: partners.prefault({}),
  deletions: deletions.prefault({}),
  catalog: catalog.prefault({}),
  consumers: consumers.prefault({}),
});

type DeepReadonly<T> = T extends Secret
  ? T
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

/**
 * The whole configuration, checked and deeply frozen. Durations are milliseconds, sizes bytes,
 * instants milliseconds since the Unix epoch; keys are those of the file.
 */
export type Config = DeepReadonly<z.output<typeof configSchema>>;

/** `http://host:port` of a server, with an address that can be opened for one that means "all". */
export function serverUrl({ host, port }: { host: string; port: number }): string {
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

import { createSecretKey, randomBytes } from 'node:crypto';
import { sha256Hex } from '#shared/crypto/hash.ts';
import type { Secret } from '#shared/crypto/secret.ts';
import { signingKey } from './intake/signature.ts';
import type { Scheme, SecretStanding, TriedKey } from './intake/signature.ts';

export const deletionActions = ['relabel', 'close', 'comment', 'redact', 'delete'] as const;

/** What a deletion may do to a lead's issue. */
export type Action = (typeof deletionActions)[number];

/** A signing secret, active from `notBefore` on and until `notAfter` (ms), both inclusive. */
export type PartnerSecret = { value: Secret; notBefore?: number; notAfter?: number };

export type FieldName =
  | 'eventType'
  | 'eventId'
  | 'externalId'
  | 'account'
  | 'leadId'
  | 'correlationId'
  | 'email'
  | 'occurredAt';

/**
 * Where an event holds a field: JSON Pointers, of which the first hit wins. Of `mergedFrom` all count, and
 * lead to one id or to a list.
 */
type Fields = Readonly<Partial<Record<FieldName | 'mergedFrom' | 'mergedTo', readonly string[]>>>;

/** An external system that sends signed calls. */
export type Partner = {
  /** As in the path: `^[a-z0-9][a-z0-9-]{0,62}$`. */
  id: string;
  scheme: Scheme;
  /** Every one that is active is tried. */
  secrets: readonly PartnerSecret[];
  /** Header names in any case; `timestamp` is read by `signature-v3` only. */
  headers: { signature: string; timestamp: string };
  fields: Fields;
  deletions: {
    /** Event types on `…/deletions` that delete; `*` stands for all. */
    types: readonly string[];
    actions: readonly Action[];
    /** For `contact.privacyDeletion`. */
    privacy: readonly Action[];
  };
  /** Event types, on either path, that make one person of several; where the ids are say `fields`. */
  mergeTypes: readonly string[];
  enabled: boolean;
  /** A valid bearer token is needed besides the signature. */
  requireBearer: boolean;
  /** Verified calls per minute; without it there is no limit. */
  limitPerMinute?: number;
};

/** Some of it, as a file leaves out what it does not say. */
type Some<T> = { [Name in keyof T]?: T[Name] | undefined };
type Pointers = string | readonly string[];

/** What the configuration says of a partner; the scheme has a default for all the rest. */
export type PartnerSettings = Pick<Partner, 'scheme' | 'secrets'> &
  Some<
    Pick<Partner, 'enabled' | 'requireBearer' | 'limitPerMinute'> & {
      headers: Some<Partner['headers']>;
      fields: Some<Record<FieldName, Pointers>>;
      deletions: Some<Partner['deletions']>;
      merges: Some<{ types: readonly string[]; from: Pointers; to: Pointers }>;
    }
  >;

const defaults = {
  'hmac-sha256': {
    signature: 'X-Partner-Signature',
    fields: {
      eventType: ['/eventType'],
      eventId: ['/eventId'],
      externalId: ['/externalId'],
      leadId: ['/leadId'],
      email: ['/email'],
      correlationId: ['/correlationId'],
      occurredAt: ['/occurredAt'],
    },
    types: ['*'],
    mergeTypes: [],
  },
  'signature-v3': {
    signature: 'X-Vendor-Signature-v3',
    fields: {
      eventType: ['/subscriptionType', '/eventType'],
      eventId: ['/eventId'],
      externalId: ['/objectId'],
      account: ['/portalId'],
      occurredAt: ['/occurredAt'],
      mergedFrom: ['/mergedObjectIds', '/primaryObjectId'],
      mergedTo: ['/newObjectId'],
    },
    types: ['contact.deletion', 'contact.privacyDeletion'],
    mergeTypes: ['contact.merge'],
  },
} satisfies Record<Scheme, SchemeDefaults>;

type SchemeDefaults = {
  signature: string;
  fields: Fields;
  types: readonly string[];
  mergeTypes: readonly string[];
};

/** A partner with every default filled in. A field that is set replaces that field's default only. */
export function createPartner(id: string, settings: PartnerSettings): Partner {
  const scheme = defaults[settings.scheme];
  const { secrets, enabled = true, requireBearer = false, limitPerMinute } = settings;
  const { types: mergeTypes = scheme.mergeTypes, from, to } = settings.merges ?? {};
  const actions = {
    actions: ['relabel', 'close'],
    privacy: ['relabel', 'close', 'redact'],
  } as const;
  return {
    id,
    scheme: settings.scheme,
    secrets,
    headers: filled(
      { signature: scheme.signature, timestamp: 'X-Vendor-Request-Timestamp' },
      settings.headers,
    ),
    fields: {
      ...scheme.fields,
      ...toPointerLists({ ...settings.fields, mergedFrom: from, mergedTo: to }),
    },
    deletions: filled<Partner['deletions']>(
      { types: scheme.types, ...actions },
      settings.deletions,
    ),
    mergeTypes,
    enabled,
    requireBearer,
    ...(limitPerMinute !== undefined && { limitPerMinute }),
  };
}

function filled<T extends object>(defaults: T, some: Some<T> = {}): T {
  const given = Object.entries(some).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(given) };
}

/** The secrets that may sign at `now`, in the order of the configuration. */
export function activeSecrets({ secrets }: Pick<Partner, 'secrets'>, now: number): Secret[] {
  return secrets.filter((secret) => standingOf(secret, now) === 'active').map(({ value }) => value);
}

/** What stands for a secret where people look: eight hexadecimal digits of its SHA-256. */
export function digestOf(secret: Secret): string {
  return sha256Hex(secret.reveal()).slice(0, 8);
}

/** Whether the secret may sign at `now`. */
export function standingOf(
  { notBefore = -Infinity, notAfter = Infinity }: PartnerSecret,
  now: number,
): SecretStanding {
  if (now > notAfter) return 'expired';
  return now < notBefore ? 'not-yet-active' : 'active';
}

function toPointerLists(fields: Some<Record<keyof Fields, Pointers>>): Fields {
  const lists: Partial<Record<keyof Fields, readonly string[]>> = {};
  for (const [name, pointers] of Object.entries(fields))
    if (pointers !== undefined)
      lists[name as keyof Fields] = typeof pointers === 'string' ? [pointers] : pointers;
  return lists;
}

/** The partners of the configuration, and what stands in for those that are not there. */
export type PartnerList = {
  /** Undefined for an unknown and for a disabled partner. */
  find(id: string): Partner | undefined;
  /** Every partner, disabled ones too, in the order of the configuration. */
  all(): readonly Partner[];
  /**
   * As many keys as the partner with the most has secrets: all those of `partner`, each with its
   * standing at `now`, filled up with ones that nobody knows. So the work done does not tell how
   * many are real.
   */
  keysToTry(partner: Partner | undefined, now: number): readonly TriedKey[];
};

/** @throws {TypeError} a secret is empty */
export function createPartnerList(list: readonly Partner[]): PartnerList {
  const byId = new Map(list.map((partner) => [partner.id, partner]));
  const keys = new Map(
    list.flatMap(({ secrets }) =>
      secrets.map(
        ({ value }) => [value, { key: signingKey(value), digest: digestOf(value) }] as const,
      ),
    ),
  );
  const tries = Math.max(1, ...list.map(({ secrets }) => secrets.length));
  const unknowable = Array.from({ length: tries }, (): TriedKey => ({
    key: createSecretKey(randomBytes(32)),
    standing: 'active',
    digest: '',
  }));
  return {
    find: (id) => {
      const partner = byId.get(id);
      return partner?.enabled ? partner : undefined;
    },
    all: () => list,
    keysToTry: (partner, now) => {
      const known = (partner?.secrets ?? []).flatMap((secret): TriedKey[] => {
        const key = keys.get(secret.value);
        return key === undefined ? [] : [{ ...key, standing: standingOf(secret, now) }];
      });
      return [...known, ...unknowable].slice(0, tries);
    },
  };
}

import { createSecretKey, randomBytes } from 'node:crypto';
import { MINUTE } from '#shared/clock.ts';
import { type Secret, secretStatus } from '#shared/crypto/secret.ts';
import {
  createHmacSigning,
  secretDigest,
  fixedSignings,
  type HmacForm,
  type PartnerSecret,
  type Scheme,
  type Signing,
  signingKey,
  type TriedKey,
} from './intake/signing.ts';

export const deletionActions = ['relabel', 'close', 'comment', 'redact', 'delete'] as const;

/** Something a deletion may do to a lead's issue. */
export type Action = (typeof deletionActions)[number];

/** A rule for events of a type: changes the issues of the leads that they name. */
export type EventRule = {
  /** An event type; `*` stands for all. */
  type: string;
  addLabels?: readonly string[];
  removeLabels?: readonly string[];
  /** Logins. Whoever is assigned already stays so. */
  assign?: string | readonly string[];
  close?: boolean;
  reopen?: boolean;
  /** With the placeholders `{partner}`, `{type}`, `{receiptId}` and `{occurredAt}`. */
  comment?: string;
  /** Typed fields of the tracker, by name, with the values that they get. */
  setFields?: Readonly<Record<string, FieldInput>>;
};

/** A text, a number, a date, the name of an option or several. */
type FieldInput = string | number | readonly string[];

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
 * Places of an event's fields: JSON Pointers, of which the first hit wins. Of `mergedFrom` all count, and
 * lead to one id or to a list.
 */
type Fields = Readonly<Partial<Record<FieldName | 'mergedFrom' | 'mergedTo', readonly string[]>>>;

/** An external system that sends signed calls. */
export type Partner = {
  /** As in the path: `PARTNER_ID`. */
  id: string;
  scheme: Scheme;
  /** Every one that is active is tried. */
  secrets: readonly PartnerSecret[];
  signing: Signing;
  /** Header names in any case; empty: the scheme has none of its kind. */
  headers: { signature: string; timestamp: string; id: string };
  fields: Fields;
  deletions: {
    /** Event types on `…/deletions` that delete; `*` stands for all. */
    types: readonly string[];
    actions: readonly Action[];
    /** For `contact.privacyDeletion`. */
    privacy: readonly Action[];
  };
  /** Rules for events on `…/events`: the first that fits is followed. */
  events: readonly EventRule[];
  /** Event types, on either path, that make one person of several; where the ids are say `fields`. */
  mergeTypes: readonly string[];
  enabled: boolean;
  /** A valid bearer token is needed besides the signature. */
  requireBearer: boolean;
  /** Verified calls per minute; without it there is no limit. */
  limitPerMinute?: number;
  /** It is silent when nothing of its was accepted for longer, in ms; without it nothing is expected. */
  expectEvery?: number;
};

/** Some of it, as a file leaves out what it does not say. */
type Some<T> = { [Name in keyof T]?: T[Name] };
type Pointers = string | readonly string[];

/** Configuration of a signature of scheme `hmac`; `tolerance` in milliseconds. */
type SignatureSettings = Omit<HmacForm, 'time' | 'decodesUrl'> & {
  header: string;
  timestamp?: { header?: string; unit: 's' | 'ms'; tolerance: number };
};

/** Configuration of a partner; the scheme has a default for all the rest. */
export type PartnerSettings = Pick<Partner, 'scheme' | 'secrets'> &
  Some<
    Pick<Partner, 'enabled' | 'requireBearer' | 'limitPerMinute' | 'expectEvery' | 'events'> & {
      signature: SignatureSettings;
      headers: Some<Partner['headers']>;
      fields: Some<Record<FieldName, Pointers>>;
      deletions: Some<Partner['deletions']>;
      merges: Some<{ types: readonly string[]; from: Pointers; to: Pointers }>;
    }
  >;

const fields = {
  eventType: ['/eventType'],
  eventId: ['/eventId'],
  externalId: ['/externalId'],
  leadId: ['/leadId'],
  email: ['/email'],
  correlationId: ['/correlationId'],
  occurredAt: ['/occurredAt'],
};

const defaults: Record<Scheme, SchemeDefaults> = {
  'hmac-sha256': {
    headers: { signature: 'X-Partner-Signature', timestamp: '', id: '' },
    fields,
    types: ['*'],
    mergeTypes: [],
  },
  'signature-v3': {
    headers: {
      signature: 'X-Vendor-Signature-v3',
      timestamp: 'X-Vendor-Request-Timestamp',
      id: '',
    },
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
  'standard-webhooks': {
    headers: {
      signature: 'webhook-signature',
      timestamp: 'webhook-timestamp',
      id: 'webhook-id',
    },
    fields: {
      eventType: ['/type', '/eventType'],
      eventId: ['/eventId'],
      externalId: ['/externalId', '/data/externalId'],
      leadId: ['/leadId', '/data/leadId'],
      email: ['/email', '/data/email'],
      correlationId: ['/correlationId', '/data/correlationId'],
      occurredAt: ['/timestamp', '/occurredAt'],
    },
    types: ['*'],
    mergeTypes: [],
  },
  hmac: { headers: { signature: '', timestamp: '', id: '' }, fields, types: ['*'], mergeTypes: [] },
};

type SchemeDefaults = {
  headers: Partner['headers'];
  fields: Fields;
  types: readonly string[];
  mergeTypes: readonly string[];
};

/** A partner with every default filled in. A field that is set replaces that field's default only. */
export function createPartner(id: string, settings: PartnerSettings): Partner {
  const scheme = defaults[settings.scheme];
  const { secrets, enabled = true, requireBearer = false, events = [] } = settings;
  const { limitPerMinute, expectEvery } = settings;
  const { types: mergeTypes = scheme.mergeTypes, from, to } = settings.merges ?? {};
  const actions = {
    actions: ['relabel', 'close'],
    privacy: ['relabel', 'close', 'redact'],
  } as const;
  return {
    id,
    scheme: settings.scheme,
    ...signingOf(settings),
    secrets,
    fields: {
      ...scheme.fields,
      ...toPointerLists({ ...settings.fields, mergedFrom: from, mergedTo: to }),
    },
    deletions: filled<Partner['deletions']>(
      { types: scheme.types, ...actions },
      settings.deletions,
    ),
    mergeTypes,
    events,
    enabled,
    requireBearer,
    limitPerMinute,
    expectEvery,
  };
}

/** @throws {TypeError} scheme `hmac` without a form */
function signingOf({
  scheme,
  headers,
  signature,
}: PartnerSettings): Pick<Partner, 'signing' | 'headers'> {
  if (scheme !== 'hmac')
    return { signing: fixedSignings[scheme], headers: filled(defaults[scheme].headers, headers) };
  if (!signature) throw new TypeError('scheme hmac needs the form of its signature');
  const { header, timestamp, ...form } = signature;
  const hasTime = (form.pairs?.timestamp ?? timestamp?.header) !== undefined;
  const { unit = 's', tolerance: toleranceMs = 5 * MINUTE } = timestamp ?? {};
  const time = hasTime ? { unit, toleranceMs, takesText: true } : undefined;
  return {
    signing: createHmacSigning({ ...form, time }),
    headers: { signature: header, timestamp: timestamp?.header ?? '', id: '' },
  };
}

function filled<T extends object>(defaults: T, some: Some<T> = {}): T {
  const set = Object.entries(some).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(set) };
}

/** The secrets that may sign at `now`, in the order of the configuration. */
export function activeSecrets({ secrets }: Partner, now: number): Secret[] {
  return secrets
    .filter((secret) => secretStatus(secret, now) === 'active')
    .map(({ value }) => value);
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
   * state at `now`, filled up with ones that nobody knows. So the work done does not tell how
   * many are real.
   */
  keysToTry(partner: Partner | undefined, now: number): readonly TriedKey[];
  /** Every way to sign that is known, those of the configuration too. */
  signings: readonly Signing[];
  /** One of each kind that it takes to refuse a call. */
  kinds: readonly Signing[];
};

/** The partners of a configuration, whose rules set fields by the names that the tracker has for them. */
export function toPartnerList({
  partners,
  leads: { issueFields },
}: {
  partners: Readonly<Record<string, PartnerSettings>>;
  leads: { issueFields: Readonly<Record<string, string>> };
}): PartnerList {
  const toTrackerNames = (fields: NonNullable<EventRule['setFields']>) =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [issueFields[name] ?? name, value]),
    );
  const toRule = ({ setFields, ...rule }: EventRule): EventRule => ({
    ...rule,
    ...(setFields && { setFields: toTrackerNames(setFields) }),
  });
  return createPartnerList(
    Object.entries(partners).map(([id, settings]) =>
      createPartner(id, { ...settings, events: settings.events?.map(toRule) }),
    ),
  );
}

/** @throws {TypeError} a secret is empty, or none for its scheme */
export function createPartnerList(list: readonly Partner[]): PartnerList {
  const byId = new Map(list.map((partner) => [partner.id, partner]));
  const keys = new Map(
    list.flatMap(({ secrets, signing }) =>
      secrets.map(
        ({ value }) =>
          [value, { key: signingKey(value, signing), digest: secretDigest(value) }] as const,
      ),
    ),
  );
  const tries = Math.max(1, ...list.map(({ secrets }) => secrets.length));
  const unknowable = Array.from({ length: tries }, (): TriedKey => ({
    key: createSecretKey(randomBytes(32)),
    status: 'active',
    digest: '',
  }));
  const signings = list.map(({ signing }) => signing);
  return {
    signings: [...new Set([...Object.values(fixedSignings), ...signings])],
    kinds: [
      ...new Map(
        [fixedSignings['hmac-sha256'], ...signings].map((one) => [one.kind, one]),
      ).values(),
    ],
    find: (id) => {
      const partner = byId.get(id);
      return partner?.enabled ? partner : undefined;
    },
    all: () => list,
    keysToTry: (partner, now) => {
      const known = (partner?.secrets ?? []).flatMap((secret): TriedKey[] => {
        const key = keys.get(secret.value);
        return key === undefined ? [] : [{ ...key, status: secretStatus(secret, now) }];
      });
      return [...known, ...unknowable].slice(0, tries);
    },
  };
}

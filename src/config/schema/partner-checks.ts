/** Checks that concern more than one key of a partner: how it signs, and its rules for events. */
import { isRecord, lookUp } from '#shared/text/json.ts';
import { webhookSecretBytes } from '#shared/crypto/secret.ts';
import { nearMiss } from '#shared/text/near-miss.ts';

import type { Problem } from '../problems.ts';
import { foldName, straysIn } from './values.ts';

/** One partner as given, and the path of its section. */
type PartnerAt = { path: string; partner: unknown };

/** Checks that concern more than one key of a partner. */
export function checkPartners(given: unknown): Problem[] {
  const partners = lookUp(given, ['partners']);
  if (!isRecord(partners)) return [];
  const hasIdentity = (lookUp(given, ['identity']) ?? undefined) !== undefined;
  return Object.entries(partners).flatMap(([id, partner]) => {
    const one = { path: `partners.${id}`, partner };
    return [
      ...checkBearer(one, hasIdentity),
      ...checkHeaders(one),
      ...checkSignature(one),
      ...checkSecrets(one),
    ];
  });
}

function checkBearer({ path, partner }: PartnerAt, hasIdentity: boolean): Problem[] {
  if (lookUp(partner, ['requireBearer']) !== true || hasIdentity) return [];
  return [
    {
      path: `${path}.requireBearer`,
      found: 'true',
      allowed: 'false while there is no identity: nothing could check the token',
    },
  ];
}

/** Parts of a signed call that have a header of their own, by scheme. */
const HEADERS: Readonly<Record<string, readonly string[]>> = {
  'hmac-sha256': ['signature'],
  'signature-v3': ['signature', 'timestamp'],
  'standard-webhooks': ['signature', 'timestamp', 'id'],
};

function checkHeaders({ path, partner }: PartnerAt): Problem[] {
  const headers = lookUp(partner, ['headers']);
  const scheme = String(lookUp(partner, ['scheme']));
  if (!isRecord(headers)) return [];
  if (scheme === 'hmac')
    return [
      { path: `${path}.headers`, found: 'headers', allowed: 'nothing: hmac has them in signature' },
    ];
  return Object.entries(headers).flatMap(([name, header]): Problem[] => {
    const at = `${path}.headers.${name}`;
    if (HEADERS[scheme] && !HEADERS[scheme].includes(name))
      return [{ path: at, found: 'a header', allowed: `nothing: ${scheme} signs no ${name}` }];
    const first = Object.keys(headers).find((other) => isSameHeader(headers[other], header));
    return first === name || first === undefined
      ? []
      : [{ path: at, found: `the header of the ${first}`, allowed: 'a header of its own' }];
  });
}

function isSameHeader(header: unknown, other: unknown): boolean {
  return String(header).toLowerCase() === String(other).toLowerCase();
}

function checkSignature({ path, partner }: PartnerAt): Problem[] {
  const at = `${path}.signature`;
  const signature = lookUp(partner, ['signature']);
  const scheme = lookUp(partner, ['scheme']);
  if (scheme === 'hmac' && signature === undefined)
    return [
      { path: at, found: 'nothing', allowed: 'a section with header: how the partner signs' },
    ];
  if (scheme !== 'hmac' && signature !== undefined)
    return [{ path: at, found: 'a section', allowed: 'nothing, or scheme: hmac' }];
  return isRecord(signature) ? checkTime(at, signature) : [];
}

function checkTime(path: string, signature: Readonly<Record<string, unknown>>): Problem[] {
  const { timestamp, pairs, content = '{body}' } = signature;
  const header = lookUp(timestamp, ['header']);
  const isThere = (header ?? lookUp(pairs, ['timestamp'])) !== undefined;
  const isSigned = String(content).includes('{timestamp}');
  const at = `${path}.timestamp.header`;
  if (header !== undefined && pairs !== undefined)
    return [{ path: at, found: 'a header', allowed: 'nothing: with pairs it is pairs.timestamp' }];
  if (header !== undefined && isSameHeader(header, signature['header']))
    return [{ path: at, found: 'the header of the signature', allowed: 'a header of its own' }];
  if (isThere && !isSigned)
    return [
      {
        path: `${path}.content`,
        found: JSON.stringify(content),
        allowed: 'a text with {timestamp} in it: a time that is not signed can be changed',
      },
    ];
  if (isThere || (timestamp === undefined && !isSigned)) return [];
  return [{ path: at, found: 'nothing', allowed: 'the header of the time, or pairs.timestamp' }];
}

function checkSecrets({ path, partner }: PartnerAt): Problem[] {
  const secrets = lookUp(partner, ['secrets']);
  if (!Array.isArray(secrets)) return [];
  const isWebhooks = lookUp(partner, ['scheme']) === 'standard-webhooks';
  return secrets.flatMap((secret: unknown, at) => [
    ...(isWebhooks ? checkWebhookSecret(`${path}.secrets[${at}]`, secret) : []),
    ...checkSecretTimes(`${path}.secrets[${at}]`, secret),
  ]);
}

function checkWebhookSecret(path: string, secret: unknown): Problem[] {
  const text = isRecord(secret) ? secret['value'] : secret;
  if (typeof text !== 'string' || text.trim() === '' || straysIn(text).length > 0) return [];
  if (webhookSecretBytes(text)) return [];
  const allowed = 'whsec_ and base64, as Standard Webhooks has its secrets';
  return [{ path, found: 'a secret that is not shown', allowed }];
}

function checkSecretTimes(path: string, secret: unknown): Problem[] {
  const [from, until] = ['notBefore', 'notAfter'].map((key) =>
    Date.parse(String(lookUp(secret, [key]))),
  );
  if (from === undefined || until === undefined || !(from >= until)) return [];
  return [
    {
      path: `${path}.notAfter`,
      found: 'a time before notBefore',
      allowed: 'a later time than notBefore',
    },
  ];
}

const ACTIONS = [
  'addLabels',
  'removeLabels',
  'assign',
  'close',
  'reopen',
  'comment',
  'setFields',
] as const;

/** The labels that a lead is approved and deleted by, as given. */
export type LeadLabels = { approved: unknown; deleted: unknown };

/** Checks the rules of all partners for events, which name labels and fields of leads. */
export function checkRules(given: unknown, labels: LeadLabels): Problem[] {
  const partners = lookUp(given, ['partners']);
  const issueFields = lookUp(given, ['leads', 'issueFields']);
  const known = Object.keys(isRecord(issueFields) ? issueFields : {});
  return Object.entries(isRecord(partners) ? partners : {}).flatMap(([id, partner]) => {
    const rules = lookUp(partner, ['events']);
    if (!Array.isArray(rules)) return [];
    return rules.flatMap((rule: unknown, at) => {
      const path = `partners.${id}.events[${at}]`;
      return isRecord(rule)
        ? [
            ...checkActions(path, rule),
            ...checkRuleLabels(path, rule, labels),
            ...checkRuleFields(path, rule, known),
          ]
        : [];
    });
  });
}

type Rule = Readonly<Record<string, unknown>>;

function checkActions(path: string, rule: Rule): Problem[] {
  const isIn = (name: string): boolean => (rule[name] ?? false) !== false;
  if (!ACTIONS.some(isIn))
    return [{ path, found: 'a rule that does nothing', allowed: `any of ${ACTIONS.join(', ')}` }];
  if (!isIn('close') || !isIn('reopen')) return [];
  return [{ path: `${path}.reopen`, found: 'close and reopen', allowed: 'one of the two' }];
}

function checkRuleLabels(path: string, rule: Rule, labels: LeadLabels): Problem[] {
  const added = new Set(namesIn(rule, 'addLabels').map(({ name }) => foldName(name)));
  return [...namesIn(rule, 'addLabels'), ...namesIn(rule, 'removeLabels')].flatMap(
    ({ key, at, name }): Problem[] => {
      const allowed = labelAllowed(foldName(name), rule, labels);
      const isBoth = key === 'removeLabels' && added.has(foldName(name));
      if (allowed === undefined && !isBoth) return [];
      return [
        {
          path: `${path}.${key}[${at}]`,
          found: JSON.stringify(name),
          allowed: allowed ?? 'a label that is not in addLabels',
        },
      ];
    },
  );
}

function checkRuleFields(path: string, { setFields }: Rule, known: readonly string[]): Problem[] {
  const unknown = Object.keys(isRecord(setFields) ? setFields : {}).filter(
    (name) => !known.includes(name),
  );
  return unknown.map((name) => {
    const meant = nearMiss(name, known);
    return {
      path: `${path}.setFields.${name}`,
      found: 'a name that leads.issueFields does not have',
      allowed: known.length === 0 ? 'a name there' : `one of ${known.join(', ')}`,
      ...(meant !== undefined && { suggestion: `did you mean ${meant}?` }),
    };
  });
}

function namesIn(rule: Rule, key: 'addLabels' | 'removeLabels') {
  const names: unknown = rule[key];
  return Array.isArray(names) ? names.map((name: unknown, at) => ({ key, at, name })) : [];
}

/** Undefined: the rule may name it. */
function labelAllowed(
  name: string,
  { mayApprove }: Rule,
  { approved, deleted }: LeadLabels,
): string | undefined {
  if (name === '') return undefined;
  if (name === foldName(deleted))
    return 'another label than deletions.deletedLabel: only deletions put it on';
  if (name === foldName(approved) && mayApprove !== true)
    return 'another label than leads.approvedLabel, or mayApprove: true';
  return undefined;
}

import { isLoopbackHost } from '#shared/text/address.ts';
import { normalizePrivateKey } from '#shared/crypto/secret.ts';
import { isRecord, lookUp } from '#shared/text/json.ts';
import type { Problem } from '../problems.ts';
import { checkPartners, checkRules, type LeadLabels } from './partner-checks.ts';
import { defaults } from './schema.ts';
import { foldName } from './values.ts';

type Check = (given: unknown) => Problem[];

/**
 * Checks that concern more than one key. They read the values as given rather than a parsed
 * configuration, so that their problems are reported together with those of single keys.
 */
export function crossCheck(given: unknown): Problem[] {
  const checks: Check[] = [
    checkStore,
    checkPorts,
    checkTrackerAuth,
    checkDeletedLabel,
    checkForm,
    checkPortal,
    checkPartners,
    (all) => checkRules(all, labelsOf(all)),
  ];
  return checks.flatMap((check) => check(given));
}

function checkStore(given: unknown): Problem[] {
  const url = lookUp(given, ['store', 'url']);
  if (typeof url !== 'string' || !/^postgres(?:ql)?:/.test(url)) return [];
  if (isGiven(given, ['secretKey'])) return [];
  const allowed = 'a key, which every instance on PostgreSQL must share';
  return [{ path: 'secretKey', found: 'nothing', allowed }];
}

function checkPorts(given: unknown): Problem[] {
  const port = lookUp(given, ['server', 'port']) ?? defaults.port;
  const opsPort = lookUp(given, ['server', 'opsPort']);
  if (opsPort !== port || port === 0) return [];
  return [
    {
      path: 'server.opsPort',
      found: JSON.stringify(opsPort),
      allowed: 'another port than server.port',
    },
  ];
}

const appKeys = ['appId', 'installationId', 'privateKey'] as const;

function checkTrackerAuth(given: unknown): Problem[] {
  const auth = lookUp(given, ['tracker', 'auth']);
  if (typeof auth !== 'object' || auth === null) return [];
  const hasToken = isGiven(auth, ['token']);
  const present = appKeys.filter((key) => isGiven(auth, [key]));
  const allowed = 'either token, or all of appId, installationId and privateKey';
  if (hasToken && present.length > 0)
    return [{ path: 'tracker.auth', found: 'a token and keys of an App', allowed }];
  if (hasToken) return [];
  if (present.length === 0) return [{ path: 'tracker.auth', found: 'neither', allowed }];
  const missing = appKeys
    .filter((key) => !present.includes(key))
    .map((key) => ({ path: `tracker.auth.${key}`, found: 'nothing', allowed }));
  return [...missing, ...checkPrivateKey(lookUp(auth, ['privateKey']))];
}

function checkPrivateKey(text: unknown): Problem[] {
  if (typeof text !== 'string' || text.trim() === '') return [];
  const check = normalizePrivateKey(text);
  if (check.kind === 'key') return [];
  return [
    {
      path: 'tracker.auth.privateKey',
      found: 'a key that is not shown',
      allowed: "the App's RSA private key as PEM text",
      suggestion: check.problem,
    },
  ];
}

function checkDeletedLabel(given: unknown): Problem[] {
  const { approved, deleted } = labelsOf(given);
  if (foldName(approved) === '' || foldName(approved) !== foldName(deleted)) return [];
  return [
    {
      path: 'deletions.deletedLabel',
      found: JSON.stringify(deleted),
      allowed: 'another label than leads.approvedLabel',
    },
  ];
}

function checkForm(given: unknown): Problem[] {
  const form = lookUp(given, ['leads', 'form']);
  const fields = isRecord(form) ? Object.entries(form) : [];
  const seen = new Map<string, string>();
  const problems: Problem[] = [];
  for (const [name, field] of fields) {
    const heading = foldName(typeof field === 'string' ? field : lookUp(field, ['heading']));
    const first = seen.get(heading);
    if (heading !== '' && first !== undefined)
      problems.push({
        path: `leads.form.${name}`,
        found: `the heading of ${first}`,
        allowed: 'a heading of its own for each field',
      });
    else seen.set(heading, name);
  }
  const multiline = fields.filter(([name, field]) => isMultiline(name, field));
  if (multiline.length > 1)
    problems.push({
      path: 'leads.form',
      found: `${multiline.length} multi-line fields: ${multiline.map(([name]) => name).join(', ')}`,
      allowed: 'at most one (message is one unless it says multiline: false)',
    });
  return problems;
}

function isMultiline(name: string, field: unknown): boolean {
  return (lookUp(field, ['multiline']) ?? name === 'message') === true;
}

function checkPortal(given: unknown): Problem[] {
  if (!isGiven(given, ['portal'])) return [];
  const problems: Problem[] = [];
  if (!isGiven(given, ['identity']))
    problems.push({
      path: 'portal',
      found: 'a portal',
      allowed: 'identity as well: people sign in at its issuer',
    });
  const publicUrl = URL.parse(String(lookUp(given, ['server', 'publicUrl'])));
  if (publicUrl && publicUrl.pathname !== '/')
    problems.push({
      path: 'server.publicUrl',
      found: `an address with the path ${publicUrl.pathname}`,
      allowed: 'an address without a path where there is a portal: its cookies are of a whole host',
    });
  const issuer = URL.parse(String(lookUp(given, ['identity', 'issuer'])));
  if (issuer?.protocol === 'http:' && !isLoopbackHost(issuer.hostname))
    problems.push({
      path: 'identity.issuer',
      found: 'an http:// address',
      allowed: 'https:// where there is a portal: sign-in sends secrets',
    });
  const scopes = lookUp(given, ['portal', 'scopes']);
  if (Array.isArray(scopes) && !scopes.includes('openid'))
    problems.push({
      path: 'portal.scopes',
      found: 'no openid',
      allowed: 'openid among them: without it the issuer does not say who signed in',
    });
  return problems;
}

function isGiven(tree: unknown, path: readonly string[]): boolean {
  const value = lookUp(tree, path);
  return value !== undefined && value !== null;
}

/** The labels that a lead is approved and deleted by, as given or by default. */
function labelsOf(given: unknown): LeadLabels {
  return {
    approved: lookUp(given, ['leads', 'approvedLabel']) ?? defaults.approvedLabel,
    deleted: lookUp(given, ['deletions', 'deletedLabel']) ?? defaults.deletedLabel,
  };
}

import { isRecord } from '#shared/text/json.ts';

import { lookUp, type Problem } from '../problems.ts';
import { defaults } from './schema.ts';

/** Labels and headings are compared like this. */
export function fold(value: unknown): string {
  return typeof value === 'string' ? value.trim().normalize('NFC').toLowerCase() : '';
}

/** The labels that a lead is approved and deleted by, as given or by default. */
export function labelsOf(given: unknown): { approved: unknown; deleted: unknown } {
  return {
    approved: lookUp(given, ['leads', 'approvedLabel']) ?? defaults.approvedLabel,
    deleted: lookUp(given, ['deletions', 'deletedLabel']) ?? defaults.deletedLabel,
  };
}

const ACTIONS = ['addLabels', 'removeLabels', 'assign', 'close', 'reopen', 'comment'] as const;

/** What concerns more than one key of the rules for events. */
export function checkRules(given: unknown): Problem[] {
  const partners = lookUp(given, ['partners']);
  const labels = labelsOf(given);
  return Object.entries(isRecord(partners) ? partners : {}).flatMap(([id, partner]) => {
    const rules = lookUp(partner, ['events']);
    if (!Array.isArray(rules)) return [];
    return rules.flatMap((rule: unknown, at) => {
      const path = `partners.${id}.events[${at}]`;
      return isRecord(rule)
        ? [...checkActions(path, rule), ...checkLabels(path, rule, labels)]
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

function checkLabels(path: string, rule: Rule, labels: ReturnType<typeof labelsOf>): Problem[] {
  const added = new Set(namesIn(rule, 'addLabels').map(({ name }) => fold(name)));
  return [...namesIn(rule, 'addLabels'), ...namesIn(rule, 'removeLabels')].flatMap(
    ({ key, at, name }): Problem[] => {
      const allowed = labelAllowed(fold(name), rule, labels);
      const isBoth = key === 'removeLabels' && added.has(fold(name));
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

function namesIn(rule: Rule, key: 'addLabels' | 'removeLabels') {
  const names: unknown = rule[key];
  return Array.isArray(names) ? names.map((name: unknown, at) => ({ key, at, name })) : [];
}

/** Undefined: the rule may name it. */
function labelAllowed(
  name: string,
  { mayApprove }: Rule,
  { approved, deleted }: ReturnType<typeof labelsOf>,
): string | undefined {
  if (name === '') return undefined;
  if (name === fold(deleted))
    return 'another label than deletions.deletedLabel: only deletions put it on';
  if (name === fold(approved) && mayApprove !== true)
    return 'another label than leads.approvedLabel, or mayApprove: true';
  return undefined;
}

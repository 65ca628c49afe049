import { isTrackerFailure, type TrackerFailure } from '#adapters/github/transport/response.ts';
import {
  createLabel,
  inspectRepository,
  isAssignable,
  type RepositoryInspection,
} from '#adapters/github/inspection.ts';
import { coversWriting, createRepository } from '#adapters/github/repository.ts';
import type { Config } from '#config/schema/schema.ts';
import { capitalize } from '#shared/outcomes/entry.ts';
import { trackerCauses, trackerStep } from '#shared/outcomes/tracker-causes.ts';
import { type Clock, DAY, MINUTE, SECOND } from '#shared/clock.ts';
import { foldLabel } from '#shared/text/labels.ts';

import type { Tracker } from '#compose/tracker.ts';
import { failed, type Finding, ok, warning } from './finding.ts';
import { checkFields } from './check-fields.ts';

/** HTTP dates are precise to a second, and the request takes time itself. */
const CLOCK_TOLERANCE_MS = 5 * SECOND;
/** Signed requests of partners are refused beyond this. */
const CLOCK_LIMIT_MS = 5 * MINUTE;
const EXPIRES_SOON_MS = 14 * DAY;
const LABEL_COLOURS = { approved: '1a7f37', deleted: '8250df', ofRules: '0969da' };

/** The tracker under examination, with the configuration that it has to suit. */
export type Examined = { config: Config; tracker: Tracker; clock: Clock };

/** The repository, what the credential may do there, its labels, and both clocks. */
export async function checkTracker(
  examined: Examined,
  { fix }: { fix: boolean },
): Promise<Finding[]> {
  const { config, tracker, clock } = examined;
  const wanted = wantedLabels(config);
  try {
    const inspection = await inspectRepository(
      { ...tracker, clock },
      wanted.map(({ name }) => name),
    );
    return [
      checkRepository(config, inspection),
      ...checkCreation(config, inspection),
      ...checkVersion(tracker),
      checkPermissions(examined, inspection),
      ...checkExpiry(inspection, clock.now()),
      checkClock(inspection),
      ...(await checkLabels(examined, inspection, fix)),
      ...(await checkAssignees(examined)),
      ...(await checkFields(config, tracker, inspection)),
      ...(await checkAdminToken(examined)),
    ];
  } catch (error) {
    if (!isTrackerFailure(error)) throw error;
    return [failed(`tracker ${config.tracker.apiUrl}`, ...explainFailure(error))];
  }
}

function checkRepository({ tracker }: Config, { facts }: RepositoryInspection): Finding {
  const subject = `repository ${tracker.repository}`;
  if (!facts.hasIssues)
    return failed(subject, ...explainFailure({ kind: 'issues-disabled', status: undefined }));
  if (facts.isArchived)
    return failed(subject, 'It is archived, so nothing can be written.', 'Unarchive it.');
  return ok(
    subject,
    `Found${facts.isPrivate ? ', private' : ', public: anyone can read its leads'}.`,
  );
}

/** A portal opens issues for people; without one they fill in the form themselves. */
function checkCreation({ leads }: Config, { facts }: RepositoryInspection): Finding[] {
  if (!facts.isForCollaborators || leads.portalAuthors.length > 0) return [];
  return [
    warning(
      'issue creation',
      'Only collaborators can open issues (issue_creation_policy is collaborators_only): the form of strangers is refused.',
      'Let everybody open issues in the settings of the repository, or name in leads.portalAuthors who opens them for strangers.',
    ),
  ];
}

function checkVersion(tracker: Tracker): Finding[] {
  const notice = tracker.versionNotice();
  return notice === undefined
    ? []
    : [warning('API version', notice, 'Update Trackport before it ends.')];
}

function checkPermissions(
  { config, tracker }: Examined,
  { facts, scopes }: RepositoryInspection,
): Finding {
  const isClassic = tracker.client.credentialKind === 'classic';
  const isInScope = !isClassic || !scopes || coversWriting(scopes, facts.isPrivate);
  const mayWrite = facts.mayWrite === true && isInScope;
  const needsWrite = Object.keys(config.partners).length > 0;
  const scopesText =
    scopes === undefined ? '' : ` Scopes of the token: ${scopes.join(', ') || 'none'}.`;
  if (needsWrite && !mayWrite)
    return failed(
      'permissions',
      `The credential may read only; deletions of partners need to write.${scopesText}`,
      isInScope
        ? 'Give it Issues: read and write on this repository.'
        : `Give the token the scope ${facts.isPrivate ? 'repo' : 'public_repo or repo'}.`,
    );
  return ok(
    'permissions',
    `The credential may ${mayWrite ? 'read and write' : 'read'}.${scopesText}`,
  );
}

function checkExpiry({ tokenExpires }: RepositoryInspection, now: number): Finding[] {
  if (tokenExpires === undefined) return [];
  const at = Date.parse(tokenExpires.replace(' UTC', 'Z').replace(' ', 'T'));
  const detail = `The token ends ${tokenExpires}.`;
  return at - now < EXPIRES_SOON_MS
    ? [warning('token', detail, 'Make a new one and replace tracker.auth.token.')]
    : [ok('token', detail)];
}

function checkClock({ clockAheadMs }: RepositoryInspection): Finding {
  if (clockAheadMs === undefined)
    return warning('clock', 'The tracker told no time.', 'Nothing, if the clock is kept by NTP.');
  const off = Math.abs(clockAheadMs);
  const detail = `This machine's clock is ${Math.round(off / SECOND)} s ${clockAheadMs > 0 ? 'behind' : 'ahead of'} the tracker's.`;
  if (off <= CLOCK_TOLERANCE_MS) return ok('clock', "Agrees with the tracker's.");
  const fix = 'Keep the clock by NTP; partners who sign the time are refused beyond 300 s.';
  return off < CLOCK_LIMIT_MS ? warning('clock', detail, fix) : failed('clock', detail, fix);
}

function wantedLabels(config: Config): { name: string; color: string; description: string }[] {
  const approved = {
    name: config.leads.approvedLabel,
    color: LABEL_COLOURS.approved,
    description: 'Sales may read this lead',
  };
  const deleted = {
    name: config.deletions.deletedLabel,
    color: LABEL_COLOURS.deleted,
    description: 'A partner had this lead deleted',
  };
  if (Object.keys(config.partners).length === 0) return [approved];
  const ofRules = rulesOf(config).flatMap(({ addLabels = [], removeLabels = [] }) =>
    [...addLabels, ...removeLabels].map((name) => ({
      name,
      color: LABEL_COLOURS.ofRules,
      description: 'Events of partners put it on or take it off',
    })),
  );
  const all = [approved, deleted, ...ofRules];
  return all.filter(
    ({ name }, at) => all.findIndex((one) => foldLabel(one.name) === foldLabel(name)) === at,
  );
}

function rulesOf({ partners }: Config) {
  return Object.values(partners).flatMap(({ events = [] }) => events);
}

async function checkAssignees({ config, tracker }: Examined): Promise<Finding[]> {
  const logins = new Set(rulesOf(config).flatMap(({ assign = [] }) => assign));
  const findings: Finding[] = [];
  for (const login of logins)
    findings.push(
      (await isAssignable(tracker, login))
        ? ok(`assignee ${login}`, 'Can be assigned.')
        : failed(
            `assignee ${login}`,
            'Issues cannot be assigned to this login.',
            'Give it access to the repository, or take it out of the rules of partners.',
          ),
    );
  return findings;
}

async function checkLabels(
  { config, tracker }: Examined,
  { labels }: RepositoryInspection,
  fix: boolean,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { name, exists } of labels) {
    const subject = `label ${name}`;
    const label = wantedLabels(config).find((wanted) => wanted.name === name);
    if (exists || !label) findings.push(ok(subject, 'Found.'));
    else if (fix) findings.push(await makeLabel(tracker, subject, label));
    else findings.push(failed(subject, 'Missing.', 'Create it, or run doctor with --fix.'));
  }
  return findings;
}

async function makeLabel(
  tracker: Tracker,
  subject: string,
  label: { name: string; color: string; description: string },
): Promise<Finding> {
  const byHand = 'Create it by hand, or give the credential Issues: read and write.';
  try {
    const result = await createLabel(tracker, label);
    if (result === 'refused') return failed(subject, 'The tracker does not take it.', byHand);
    return { subject, state: 'fixed', detail: 'Created.' };
  } catch (error) {
    const reason = isTrackerFailure(error) ? error.kind : 'unknown';
    return failed(subject, `Could not be created (${reason}).`, byHand);
  }
}

async function checkAdminToken({ tracker, clock }: Examined): Promise<Finding[]> {
  const { repository } = tracker;
  const adminClient = tracker.adminClient();
  if (!adminClient) return [];
  const subject = 'admin token';
  const fix = 'Use a token of a repository administrator, or leave tracker.adminToken out.';
  try {
    const asAdmin = createRepository(adminClient, repository.name, clock);
    const { facts } = await asAdmin.read();
    return facts.isAdmin
      ? [ok(subject, 'Belongs to an administrator.')]
      : [failed(subject, 'Its owner is no administrator, so nothing can be deleted.', fix)];
  } catch (error) {
    const reason = isTrackerFailure(error) ? error.kind : 'unknown';
    return [failed(subject, `Is refused (${reason}).`, fix)];
  }
}

/** Meaning of a failed request, and what to do about it. */
export function explainFailure({
  kind,
  status,
}: Pick<TrackerFailure, 'kind' | 'status'>): [detail: string, fix: string] {
  const cause = trackerCauses[kind];
  const isTold = status === undefined || cause.meaning.includes(String(status));
  const detail = `${capitalize(cause.meaning)}.${isTold ? '' : ` Status ${status}.`}`;
  return [detail, trackerStep(cause)];
}

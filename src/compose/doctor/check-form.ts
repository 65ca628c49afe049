import type { FormLayout } from '#leads/issue-body.ts';
import type { Issue, LeadTracker } from '#leads/lead-tracker.ts';

import { failed, ok, warning, type Finding } from './finding.ts';

export type FormCheckDeps = {
  tracker: Pick<LeadTracker, 'listIssues'>;
  approvedLabel: string;
  form: FormLayout;
};

const SUBJECT = 'issue form';

/**
 * Compares the configured headings with those of the newest approved issue that was made with the
 * form. A form that lacks one lets a visitor's text stand for other fields.
 * @throws {tracker-failed} @throws {tracker-unavailable}
 */
export async function checkForm(deps: FormCheckDeps): Promise<Finding> {
  const answer = await deps.tracker.listIssues({
    state: 'all',
    labels: [deps.approvedLabel],
    order: 'created-desc',
  });
  const issues = answer.kind === 'changed' ? answer.page.issues : [];
  const newest = issues.find((issue) => !issue.isPullRequest && headingsOf(issue).size > 0);
  if (!newest)
    return warning(
      SUBJECT,
      'No approved issue was made with a form yet, so its headings cannot be compared.',
      'Run doctor again when there is one.',
    );
  const present = headingsOf(newest);
  const missing = deps.form.filter(({ heading }) => !present.has(comparable(heading)));
  if (missing.length === 0) return ok(SUBJECT, `Issue ${newest.number} has every heading.`);
  return failed(
    SUBJECT,
    `Issue ${newest.number} lacks ${missing.map(({ heading }) => `"${heading}"`).join(', ')}.`,
    'Make leads.form list the headings of the issue form, all of them and in its order.',
  );
}

function headingsOf(issue: Issue): ReadonlySet<string> {
  const lines = issue.body.split(/\r\n|\n|\r/).filter((line) => line.startsWith('### '));
  return new Set(lines.map((line) => comparable(line.slice(4))));
}

function comparable(heading: string): string {
  return heading.trim().normalize('NFC');
}

import { headingFinder, type FormLayout } from '#leads/model/form-layout.ts';
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
  const newest = issues.find((issue) => !issue.isPullRequest && headingLinesOf(issue).length > 0);
  if (!newest)
    return warning(
      SUBJECT,
      'No approved issue was made with a form yet, so its headings cannot be compared.',
      'Run doctor again when there is one.',
    );
  const findHeading = headingFinder(deps.form);
  const present = new Set(headingLinesOf(newest).map((line) => findHeading(line)));
  const missing = deps.form.filter((_, place) => !present.has(place));
  if (missing.length === 0) return ok(SUBJECT, `Issue ${newest.number} has every heading.`);
  return failed(
    SUBJECT,
    `Issue ${newest.number} lacks ${missing.map(({ heading }) => `"${heading}"`).join(', ')}.`,
    'Make leads.form list the headings of the issue form, all of them and in its order.',
  );
}

function headingLinesOf(issue: Issue): readonly string[] {
  return issue.body.split(/\r\n|\n|\r/).filter((line) => line.startsWith('### '));
}

import { type FormLayout, headingFinder } from '#leads/model/issue-body.ts';
import type { Issue, LeadTracker } from '#leads/lead-tracker.ts';

import { failed, type Finding, ok, warning } from './finding.ts';
import { withoutInvisible } from '#shared/text/visible.ts';

const SUBJECT = 'issue form';

/** A field that fewer of the approved issues have is worth a look. */
const SHARE_MIN = 0.9;

/**
 * Compares the configured headings with those of the newest approved issue that was made with the
 * form, and tells in which share of the latest 100 approved issues each field stands. A form that
 * lacks a heading lets a visitor's text stand for other fields. Names fields, and nothing of a lead.
 * @throws {tracker-failed} @throws {tracker-unavailable}
 */
export async function checkForm(
  tracker: LeadTracker,
  { approvedLabel, form }: { approvedLabel: string; form: FormLayout },
): Promise<Finding[]> {
  const response = await tracker.listIssues({
    state: 'all',
    labels: [approvedLabel],
    order: 'created-desc',
  });
  const page = response.kind === 'changed' ? response.page.issues : [];
  const issues = page.filter((issue) => !issue.isPullRequest);
  return [checkNewest(form, issues), ...checkShares(form, issues)];
}

function checkNewest(form: FormLayout, issues: readonly Issue[]): Finding {
  const newest = issues.find((issue) => headingLinesOf(issue).length > 0);
  if (!newest)
    return warning(
      SUBJECT,
      'No approved issue was made with a form yet, so its headings cannot be compared.',
      'Run doctor again when there is one.',
    );
  const findHeading = headingFinder(form);
  const places = headingLinesOf(newest).map((line) => findHeading(line));
  const missing = form.filter((_, place) => !places.includes(place));
  const fix = 'Make leads.form list the headings of the issue form, all of them and in its order.';
  if (missing.length > 0) {
    const names = missing.map(({ heading }) => `"${heading}"`).join(', ');
    return failed(SUBJECT, `Issue ${newest.number} lacks ${names}.`, fix);
  }
  if (!standInOrder(places, form.length))
    return failed(SUBJECT, `Issue ${newest.number} has the headings in another order.`, fix);
  return ok(SUBJECT, `Issue ${newest.number} has every heading.`);
}

function checkShares(form: FormLayout, issues: readonly Issue[]): Finding[] {
  if (issues.length === 0) return [];
  const findHeading = headingFinder(form);
  const found = issues.map((issue) => new Set(headingLinesOf(issue).map(findHeading)));
  const shares = form.map(({ name }, place) => {
    const count = found.filter((places) => places.has(place)).length;
    return { name, share: count / issues.length };
  });
  const subject = 'form fields';
  const listed = shares.map(({ name, share }) => `${name} ${Math.round(share * 100)} %`).join(', ');
  const detail = `Share of the latest ${issues.length} approved issues that have it: ${listed}.`;
  const rare = shares.filter(({ share }) => share < SHARE_MIN).map(({ name }) => name);
  if (rare.length === 0) return [ok(subject, detail)];
  const fix = `Approved issues without a field are leads without it: compare the headings of ${rare.join(', ')} with the form and with what else makes issues.`;
  return [warning(subject, detail, fix)];
}

/** True when the places from 0 to before `count` are there one behind the other, among others. */
function standInOrder(places: readonly number[], count: number): boolean {
  let next = 0;
  for (const place of places) if (place === next) next += 1;
  return next === count;
}

function headingLinesOf(issue: Issue): readonly string[] {
  return issue.body.split(/\r\n|\n|\r/).filter((line) => withoutInvisible(line).startsWith('###'));
}

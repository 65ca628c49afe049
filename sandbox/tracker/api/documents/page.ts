import { SECOND, toRfc3339 } from '#shared/clock.ts';
import type { TrackerResponse } from '../response.ts';
import type { IssueRecord, Repository, World } from '../../world/model.ts';
import { fullNameOf } from '../../world/world.ts';

/**
 * The tracker's own pages, for a person who wants to see an issue being relabelled and closed.
 * They show everything to everybody: the sandbox holds nothing but made-up people.
 */

const ROWS_MAX = 200;
const REFRESH_SECONDS = 3;
const FRESH_MS = 30 * SECOND;

/** The list, newest first, which loads itself again every three seconds. */
export function listPage(world: World, repository: Repository): TrackerResponse {
  const newest = [...repository.issues.byNumber.values()].sort((a, b) => b.number - a.number);
  const open = newest.filter(({ state }) => state === 'open').length;
  const now = world.clock.now();
  const rows = newest.slice(0, ROWS_MAX).map((issue) => listRow(repository, issue, now));
  const more = newest.length > ROWS_MAX ? `<p>The newest ${ROWS_MAX} are shown.</p>` : '';
  return htmlAnswer(
    fullNameOf(repository),
    `<p><b>${open}</b> open, <b>${newest.length - open}</b> closed, as of ${time(now)}. This page loads itself again; what changed a moment ago is marked.</p>
<table><thead><tr><th scope="col">State</th><th scope="col">Issue</th><th scope="col">Type, labels</th><th scope="col">Updated</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table>${more}`,
    { refreshSeconds: REFRESH_SECONDS },
  );
}

function listRow(repository: Repository, issue: IssueRecord, now: number): string {
  const path = `/${fullNameOf(repository)}/${issue.isPullRequest ? 'pull' : 'issues'}/${issue.number}`;
  const comments =
    issue.comments.length > 0 ? ` · ${countOf(issue.comments.length, 'comment')}` : '';
  const assignees = issue.assignees.map(({ login }) => login).join(', ');
  return `<tr${now - issue.updatedAt < FRESH_MS ? ' class="fresh"' : ''}><td>${stateMark(issue)}</td>
<td><a href="${escape(path)}">${escape(issue.title)}</a><br><small>#${issue.number} by ${authorOf(issue)}${comments}${assignees ? ` · ${escape(assignees)}` : ''}</small></td>
<td>${typeMark(issue)} ${labelMarks(issue)}</td><td><small>${time(issue.updatedAt)}</small></td></tr>`;
}

/** One issue with its body, labels and comments. */
export function issuePage(repository: Repository, issue: IssueRecord): TrackerResponse {
  const comments = issue.comments.map(
    ({ author, body, createdAt }) =>
      `<section><small>${escape(author.login)}, ${time(createdAt)}</small><pre>${escape(body)}</pre></section>`,
  );
  return htmlAnswer(
    `${issue.title} · #${issue.number}`,
    `<p><a href="/">${escape(fullNameOf(repository))}</a></p>
<p>${stateMark(issue)} ${typeMark(issue)} ${labelMarks(issue)}</p>
${fieldTable(issue)}<p><small>by ${authorOf(issue)}, ${time(issue.createdAt)}</small></p><pre>${escape(issue.body ?? '')}</pre>
<h2>${countOf(issue.comments.length, 'comment')}</h2>${comments.join('\n')}`,
    { refreshSeconds: REFRESH_SECONDS },
  );
}

/** Page of an issue that is not there. */
export function missingPage(text: string): TrackerResponse {
  return htmlAnswer('Not here', `<p>${escape(text)}</p><p><a href="/">All issues</a></p>`, {
    status: 404,
  });
}

function stateMark({ state, stateReason, isPullRequest }: IssueRecord): string {
  const reason = state === 'closed' && stateReason ? ` (${stateReason.replaceAll('_', ' ')})` : '';
  const kind = isPullRequest ? ' <span class="mark pull">pull request</span>' : '';
  return `<span class="mark ${state}">${state}${reason}</span>${kind}`;
}

function labelMarks({ labels }: IssueRecord): string {
  return labels
    .map(({ name, color }) => {
      const ink = isLight(color) ? '#1f2328' : '#ffffff';
      return `<span class="mark" style="background:#${color};color:${ink}">${escape(name)}</span>`;
    })
    .join(' ');
}

function typeMark({ type }: IssueRecord): string {
  return type ? `<span class="mark type">${escape(type.name)}</span>` : '';
}

function fieldTable({ fieldValues }: IssueRecord): string {
  if (fieldValues.length === 0) return '';
  const rows = fieldValues.map(
    ({ field, value }) =>
      `<tr><th scope="row">${escape(field.name)}</th><td>${escape([value].flat().join(', '))}</td></tr>`,
  );
  return `<table class="fields"><tbody>${rows.join('\n')}</tbody></table>
`;
}

function isLight(color: string): boolean {
  const [red, green, blue] = [0, 2, 4].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  return (red ?? 0) * 0.299 + (green ?? 0) * 0.587 + (blue ?? 0) * 0.114 > 128;
}

function time(ms: number): string {
  const text = toRfc3339(Math.floor(ms / SECOND) * SECOND);
  return `<time datetime="${text}">${text.replace('T', ' ').replace('Z', ' UTC')}</time>`;
}

function authorOf({ author }: IssueRecord): string {
  return escape(author?.login ?? 'ghost');
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

const STYLE = `:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:64rem;padding:0 1rem;color:#1f2328;background:#fff}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.5rem;border-top:1px solid #d1d9e0;vertical-align:top}
a{color:#0969da;text-decoration:none}a:hover{text-decoration:underline}small{color:#59636e}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f6f8fa;padding:1rem;border-radius:6px}
.mark{display:inline-block;border-radius:1em;padding:0 .6em;font-size:.85em;white-space:nowrap}
.open{background:#1a7f37;color:#fff}.closed{background:#8250df;color:#fff}.pull{background:#59636e;color:#fff}.type{border:1px solid currentcolor}.fields{width:auto}
.fresh td{background:#ddf4ff}time{white-space:nowrap}
@media(max-width:45rem){body{margin:1rem auto}thead{display:none}tbody,td{display:block}tr{display:block;border-top:1px solid #d1d9e0;padding:.5rem 0}td,th{border:0;padding:.15rem .5rem}td:empty{display:none}}
.note{background:#fff8c5;border:1px solid #d4a72c;border-radius:6px;padding:.5rem 1rem}
@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}pre{background:#161b22}td,th{border-color:#30363d}a{color:#58a6ff}small{color:#9198a1}tr{border-color:#30363d}.fresh td{background:#16304f}.note{background:#2b2410;border-color:#9e6a03}}`;

/** Nothing from elsewhere, no script; label colours need inline styles. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";

function htmlAnswer(
  title: string,
  main: string,
  { status = 200, refreshSeconds }: { status?: number; refreshSeconds?: number } = {},
): TrackerResponse {
  const refresh = refreshSeconds ? `<meta http-equiv="refresh" content="${refreshSeconds}">` : '';
  const text = `<!doctype html><html lang="en"><head><meta charset="utf-8">${refresh}
<meta name="viewport" content="width=device-width, initial-scale=1"><title>${escape(title)} · sandbox tracker</title><style>${STYLE}</style></head>
<body><p class="note">A sandbox: a stand-in for GitHub Issues on this machine, with made-up people only.</p>
<main><h1>${escape(title)}</h1>${main}</main></body></html>`;
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': POLICY,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
  return { status, body: Buffer.from(text), headers };
}

/** Whole pages: the frame, what every page has, and the page that says that something did not work. */
import type { Scope } from '#access/tokens.ts';
import type { ErrorCode } from '#shared/errors.ts';
import { problems } from '#shared/outcomes/problems.ts';
import type { PortalContext } from '../context.ts';
import {
  may,
  type PortalFrame,
  type PortalPage,
  type PortalPerson,
  type ShownSecret,
} from '../page.ts';
import { html, type Html, type HtmlValue } from '../html.ts';
import { assetPath } from '../assets.ts';
import { count, time, type Viewer } from './times.ts';
import { attributes, code, codeBlock, cut, details, foreign, hidden, link } from './elements.ts';
import { FORM_TOKEN_FIELD, hiddenField } from './forms.ts';
import { body, card, doneNotice, facts, row } from './card.ts';
import { SECTIONS, sections } from '../paths.ts';

/** A whole page, in the frame of who is signed in. */
export function renderPage(
  { repository, deadLetters }: Pick<PortalContext, 'repository' | 'deadLetters'>,
  frame: PortalFrame,
  page: PortalPage,
): string {
  return htmlDocument(
    `${page.hasProblems === true ? 'Error: ' : ''}${cut(page.title)}`,
    html`<body class="app">
      <a class="skip" href="#main">Skip to the content</a>
      <header class="side">
        ${brand(repository, '/portal')}${navigation(frame, page, deadLetters?.())}
      </header>
      <main id="main" tabindex="-1" ${attributes({ 'data-reload': page.isWaiting === true })}>
        ${endsSoon(frame)}${head(page)}${once(frame)}${page.body}
      </main>
      ${foot(frame)}
    </body>`,
  );
}

/** A page for nobody in particular: sign-in, signed out, a problem before there is a session. */
export function renderLonePage(title: string, repository: string, content: HtmlValue): string {
  return htmlDocument(
    cut(title),
    html`<body>
      <main class="lone">${brand(repository)}${content}</main>
    </body>`,
  );
}

function htmlDocument(title: string, body: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Trackport</title>
        <meta name="color-scheme" content="light dark" />
        <link rel="stylesheet" href="${assetPath('portal.css')}" />
        <link rel="icon" type="image/svg+xml" href="${assetPath('mark.svg')}" />
        <script src="${assetPath('portal.js')}" defer></script>
      </head>
      ${body}
    </html> `.toString();
}

const MARK = html`<svg
  width="22"
  height="22"
  viewBox="0 0 22 22"
  aria-hidden="true"
  focusable="false"
>
  <rect width="22" height="22" rx="5" fill="currentColor" fill-opacity=".16" />
  <path d="M5 6.5h12M5 15.5h4.5" stroke="currentColor" stroke-width="2" stroke-linecap="round" />
  <path
    d="M11 6.5v4.2a4.8 4.8 0 0 0 4.8 4.8H17"
    fill="none"
    stroke="currentColor"
    stroke-width="2"
    stroke-linecap="round"
  />
</svg>`;

function brand(repository: string, href?: string): Html {
  const words = html`<b>Trackport<span>${repository}</span></b>`;
  if (href === undefined) return html`<div class="brand">${MARK}${words}</div>`;
  return html`<a class="brand" href="${href}">${MARK}${hidden('Overview of')}${words}</a>`;
}

function navigation(frame: PortalFrame, page: PortalPage, deadLetters?: number): Html {
  const own = frame.currentPath.split('?')[0];
  const links = sections.map((section) => {
    const { label, path, scope } = SECTIONS[section];
    if (scope !== undefined && !may(frame.person, scope)) return undefined;
    const here = path === own ? 'page' : 'true';
    const names = attributes({
      href: path,
      'aria-current': section === page.section ? here : undefined,
    });
    return html`<a${names}>${label}${section === 'receipts' && waiting(deadLetters)}</a>`;
  });
  return html`<nav aria-label="Portal"><div class="nav">${links}</div></nav>`;
}

function waiting(deadLetters = 0): Html | undefined {
  if (deadLetters === 0) return undefined;
  return html`<span class="count" data-s="bad"
    >${count(deadLetters)}${hidden(' dead letters')}</span
  >`;
}

function head(page: PortalPage): Html {
  const { section, crumbs, heading = cut(page.title), meta = [], actions } = page;
  const { path: href, label: text } = SECTIONS[section];
  const above = (crumbs ? [{ href, text }, ...crumbs] : []).map(
    (crumb) => html`<li>${link(crumb.href, foreign(crumb.text))}</li>`,
  );
  return html`<div class="head">
    <div>
      ${
        above.length > 0 &&
        html`<nav class="crumbs" aria-label="Breadcrumb">
          <ol>
            ${above}
          </ol>
        </nav>`
      }
      <div class="row">
        <h1>${heading}</h1>
        ${page.badge}
      </div>
      ${meta.length > 0 && html`<p class="meta">${meta.map((part) => html`<span>${part}</span> `)}</p>`}
    </div>
    ${actions !== undefined && html`<div class="row">${actions}</div>`}
  </div>`;
}

function once({ once, currentPath }: PortalFrame): Html | undefined {
  const { notice = '', secret, isUndone } = once ?? {};
  if (secret) return shownSecret(secret, notice, currentPath);
  return notice === '' ? undefined : doneNotice(notice, { isUndone });
}

function shownSecret(secret: ShownSecret, done: string, path: string): Html {
  const { heading, value, text, note, command } = secret;
  return html`<section class="notice" data-s="warn" aria-labelledby="new-secret">
    <h2 id="new-secret">${heading}</h2>
    <p>${done} ${text}</p>
    <div class="secret">
      <output id="secret" aria-labelledby="new-secret">${value}</output
      ><button class="btn" type="button" data-copy="secret" hidden>Copy</button>
    </div>
    ${note !== undefined && html`<p class="note">${note}</p>`}
    <div class="row">${link(path, 'I have stored it', { look: 'primary' })}</div>
    ${command !== undefined && details('Try it', html`<p class="note">Paste it into a shell. It asks for the key, so that no history holds it.</p>`, codeBlock(command, 'Command to try it'))}
  </section>`;
}

/** Shown by script when the time has come; without script the foot says until when. */
function endsSoon({ person }: PortalFrame): Html {
  return html`<p
    class="notice ends"
    data-s="warn"
    role="status"
    data-ends="${person.sessionEndsMs}"
    hidden
  >
    <span
      >Your session ends within five minutes: send what you typed, or
      ${link('/portal', 'use the portal in another tab', { opensTab: true })} to go on.</span
    >
  </p>`;
}

function foot({ person }: PortalFrame): Html {
  const token = hiddenField(FORM_TOKEN_FIELD, person.formToken);
  const ends = time(person.sessionEndsMs, { nowMs: person.sessionEndsMs }, 'clock');
  return html`<footer class="foot">
    <p>
      <strong>${cut(person.name, 60)}</strong>Workspace ${cut(person.workspaceId, 60)}, as
      ${roleOf(person)}
    </p>
    <p>Unused, the session ends at ${ends}</p>
    <p>Times in <span data-zone>UTC</span></p>
    <form method="post" action="/portal/sign-out">
      ${token}<button class="btn small">Sign out</button>
    </form>
  </footer>`;
}

/** By the greatest right of each kind. */
const ROLES: readonly (readonly [Scope, string])[][] = [
  [['trackport:admin', 'operator']],
  [
    ['catalog:publish', 'publisher of the catalog'],
    ['catalog:write', 'writer of the catalog'],
    ['catalog:read', 'reader of the catalog'],
  ],
];

/** The person's role here, in words. */
function roleOf(person: Pick<PortalPerson, 'scopes'>): string {
  const roles = ROLES.flatMap((kind) => kind.find(([scope]) => may(person, scope))?.[1] ?? []);
  return roles.join(' and ') || 'guest';
}

export type RefusalPage = {
  code: ErrorCode;
  /** In place of the code, for what only the portal refuses. */
  says?: string;
  /** Such as `You may not see consumers`; by default the title of the code. */
  heading?: string;
  /** Says what happened, and that nothing was changed if so; by default the meaning of the code. */
  text?: HtmlValue;
  /** By default that of the code. */
  nextStep?: HtmlValue;
  requestId: string;
  /** Address of the audit entries of the request, for a person who may see them. */
  auditHref?: string;
  /** Links in the look of buttons: where to go from here. */
  actions?: HtmlValue;
};

/** The body of a page that says that something did not work, and what to do now. */
export function refusalBody(given: RefusalPage, viewer: Viewer): Html {
  const { status, meaning, next } = problems[given.code];
  const { text = meaning, nextStep = next, says = given.code } = given;
  const id = code(cut(given.requestId));
  const details = facts([
    ['Status', html`${status} ${code(says)}`],
    ['Request', given.auditHref === undefined ? id : link(given.auditHref, id)],
    ['At', time(viewer.nowMs, viewer)],
  ]);
  const inside = html`<p>${text}</p>
    <p><b>Next step:</b> ${nextStep}</p>
    ${details} ${given.actions !== undefined && row(given.actions)}`;
  return html`<div class="dialog">
    ${card({ id: 'refused', heading: 'What happened' }, body(inside))}
  </div>`;
}

export const refusalTitle = ({ code, heading = problems[code].title }: RefusalPage): string =>
  heading;

/** A whole document, for who is not signed in. */
export function renderLoneRefusal(
  context: Pick<PortalContext, 'repository' | 'clock'>,
  given: RefusalPage,
): string {
  const title = refusalTitle(given);
  const content = html`<h1>${title}</h1>
    ${refusalBody(given, { nowMs: context.clock.now() })}`;
  return renderLonePage(title, context.repository, content);
}

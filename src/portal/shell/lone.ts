/** Pages for nobody in particular: there is no session, so there is no frame. Each is a whole page. */
import { html } from '../html.ts';
import type { HtmlValue } from '../html.ts';
import { body } from './card.ts';
import { remark } from './notice.ts';
import { renderLonePage } from './page.ts';
import { link } from './parts.ts';
import type { State } from './parts.ts';
import { refusal, refusalTitle } from './refusal.ts';
import type { RefusalFacts } from './refusal.ts';

export type SignInFacts = {
  /** `owner/name`. */
  repository: string;
  /** Host of the issuer. */
  issuer: string;
  /** What starts the sign-in. */
  startPath: string;
  /** Why the person is here: the session ended, it is signed out, the issuer refused. */
  reason?: { state: State; heading: string; text: HtmlValue };
};

/** Where am I, why am I here, where shall I be afterwards? */
export function renderSignIn({ repository, issuer, startPath, reason }: SignInFacts): string {
  const content = html`<section class="card dialog" aria-labelledby="t">
    ${body(
      html`<h1 id="t">Sign in</h1>`,
      reason && remark(reason.state, reason.heading, reason.text),
      link({ href: startPath, text: `Continue to ${issuer}`, look: 'primary' }),
      html`<p class="note">
        You sign in at your organisation; Trackport never sees a password. To see more than health
        you need one of the scopes <code>catalog:read</code> or <code>trackport:admin</code>.
      </p>`,
    )}
  </section>`;
  return renderLonePage('Sign in', repository, content);
}

export type LoneRefusalFacts = RefusalFacts & { repository: string };

/** A refusal before there is a session, times in UTC. */
export function renderLoneRefusal(given: LoneRefusalFacts): string {
  const title = refusalTitle(given);
  const reader = { timeZone: 'UTC', nowMs: given.atMs };
  const content = html`<h1>${title}</h1>
    ${refusal(given, reader)}`;
  return renderLonePage(title, given.repository, content);
}

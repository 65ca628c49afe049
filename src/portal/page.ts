import type { Readable } from 'node:stream';
import type { Html, HtmlValue } from './html.ts';
import type { Scope } from '#access/tokens.ts';
import type { Section } from './paths.ts';

/** Result of a page's handler; the frame around it is the portal's. */
export type PortalPage = {
  /** Plain text: the heading, and the start of `<title>`. */
  title: string;
  /** The place that the navigation marks. */
  section: Section;
  body: Html;
  /** Default 200; 422 for a form that came back. */
  status?: number;
  /** A form came back with problems: `Error: ` is put before the `<title>`. */
  hasProblems?: boolean;
  /** The heading with markup in it; by default the title. */
  heading?: HtmlValue;
  /** Beside the heading. */
  badge?: Html;
  /** The way up, below the section; none on a section's own page. */
  crumbs?: readonly { href: string; text: string }[];
  /** Below the heading, in one line: what is known at a glance. */
  meta?: readonly HtmlValue[];
  /** At the right of the heading: links and buttons. */
  actions?: HtmlValue;
  /** Says what of the address was not followed, in place of what the action before this page left. */
  notice?: string;
  /** It shows what is under way: the page's script opens it again until it does not. */
  isWaiting?: boolean;
};

/** A file in place of a page, such as a table for a spreadsheet. */
export type PortalFile = {
  fileName: string;
  mediaType: string;
  content: string | Buffer | Readable;
};

/** A secret that was made by the action before, shown this one time. */
export type ShownSecret = {
  /** Such as `Keep this key in a safe place now`. */
  heading: string;
  value: string;
  /** Why it cannot be seen again, and what to do when it is lost. */
  text: string;
  /** The place that it belongs in. */
  note?: string;
  /** A command to try it, in one line; it asks for the secret, so that no history of a shell holds it. */
  command?: string;
};

/** Left by the action before this page: shown once, encrypted at rest. */
export type Once = {
  notice?: string;
  /** The notice says why nothing was done. */
  isUndone?: boolean;
  secret?: ShownSecret;
};

/** Everything on a page that is not the page's. */
export type PortalFrame = {
  person: PortalPerson;
  /** Path and query of this page, for what leads back to it. */
  currentPath: string;
  /** Shown by the frame above the page's body. */
  once?: Once;
};

/** Fields of a form as they were typed; a field that came several times is a list. */
export type TypedFields = Readonly<Record<string, string | string[]>>;

/** A person who is signed in, as pages see them. */
export type PortalPerson = {
  /** The token's `sub`: what the audit log says. */
  subject: string;
  /** For pages: a name, else the subject. */
  name: string;
  workspaceId: string;
  scopes: readonly string[];
  /** Bound to the session; every form carries it as `formToken`. */
  formToken: string;
  /** New with every page: when one of its forms is sent twice, that is known by it. */
  formId: string;
  /** End of the session without another use; milliseconds since the Unix epoch. */
  sessionEndsMs: number;
};

/** True when a page may offer the person an action that needs `scope`. The use case checks again. */
export function may(person: Pick<PortalPerson, 'scopes'>, scope: Scope): boolean {
  return person.scopes.includes(scope);
}

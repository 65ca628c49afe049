import type { Scope } from '#access/grants/scopes.ts';

/** Who is signed in to the portal, as its pages see them. */
export type PortalPerson = {
  /** The token's `sub`: what the audit log says. */
  subject: string;
  /** What the page shows: a name, else the subject. */
  name: string;
  workspaceId: string;
  scopes: readonly string[];
  /** Bound to the session; every form carries it as `formToken`. */
  formToken: string;
  /** New with every page: what must not be done twice is known again by it. */
  formId: string;
  /** When the session ends without another use; milliseconds since the Unix epoch. */
  sessionEndsMs: number;
  /** An IANA name such as `Europe/Berlin`; `UTC` until the person chose. */
  timeZone: string;
};

/** Whether a page offers the person what needs `scope`. The use case checks again. */
export function may(person: Pick<PortalPerson, 'scopes'>, scope: Scope): boolean {
  return person.scopes.includes(scope);
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

/** What the person is here, in words. */
export function roleOf(person: Pick<PortalPerson, 'scopes'>): string {
  const roles = ROLES.flatMap((kind) => kind.find(([scope]) => may(person, scope))?.[1] ?? []);
  return roles.join(' and ') || 'guest';
}

import { z } from 'zod';
import type { Scope } from '#access/tokens.ts';
import type { Actor } from '#shared/audit.ts';
import type { Once, PortalFile, PortalPage, PortalPerson } from '../page.ts';
import type { HeldForm } from '../shell/forms.ts';
import type { Viewer } from '../shell/times.ts';

/** A request as handlers get it. */
type PortalRequest<Params> = {
  person: PortalPerson;
  /** For times on the page. */
  viewer: Viewer;
  /** For what belongs to the session itself. */
  session: { digest: Buffer };
  /** Of the page, or where the form is sent. */
  path: string;
  params: Params;
};

type PageOptions<Query extends z.ZodType, Params extends z.ZodType> = {
  /** Default: a session is enough. */
  scope?: Scope;
  /** Default: no parameter. What is repeated comes as a list. */
  query?: Query;
  /** Of the path; what does not fit is a page that is not there. */
  params?: Params;
  /** A filter that does not fit is left out, and said above the list; else the address is refused. */
  isList?: true;
};

/** With what came back of a form, or of a list's filters: only those that were wrong and left out. */
export type PageRequest<Query = unknown, Params = unknown> = PortalRequest<Params> &
  HeldForm & { query: Query };

/** A form, and what it does. `Given`: what its handlers get before the request. */
export type Action<
  Form extends z.ZodType,
  Params extends z.ZodType,
  Query extends z.ZodType,
  Given extends unknown[] = [],
> = {
  /** Default: a session is enough. */
  scope?: Scope;
  /** Of the fields, each a text, or a list when it came several times; an empty field is ''. */
  form?: Form;
  params?: Params;
  /** Default 64 KiB. */
  formBytesMax?: number;
  /**
   * A form that is sent twice, as by a second click, is done once, and both lead to the same page: for
   * what shows a secret. The `postForm` of a `page` says `isDoneOnce`.
   */
  doneOnce?: boolean;
  /** The page with the form, at the same address. A form that did not fit stands on it again. */
  page?: (
    ...given: [...Given, request: FormRequest<z.output<Params>, z.output<Query>>]
  ) => Promise<PortalPage>;
  /** Of that page's address. */
  query?: Query;
  /**
   * The page on which a form that did not fit stands again, where it is another one than `page`. A form
   * does not fit when its schema refuses it, or the use case does with 400, 409, 412 or 422. Without
   * either page such an error is shown on the page for errors.
   */
  onProblems?: (
    ...given: [...Given, request: FormRequest<z.output<Params>>]
  ) => Promise<PortalPage>;
  run: (
    ...given: [...Given, request: ActionRequest<z.output<Form>, z.output<Params>>]
  ) => Promise<ActionResult>;
};

export type ActionRequest<Form = unknown, Params = unknown> = PortalRequest<Params> & {
  /** For use cases: who does it, by which request. */
  origin: { actor: Actor; requestId: string; signal: AbortSignal };
  form: Form;
};

/** Where an action leads: a page of the portal, with what it shows once. */
export type ActionResult = Once & { location: string };

/** For a page with a form, when it is opened and when its form came back. */
export type FormRequest<Params = unknown, Query = unknown> = PageRequest<
  /** Undefined when the form came back. */
  Query | undefined,
  Params
> & {
  /** Its field `seen`, where it was filled in before the sign-in: what it says of then still counts. */
  seenBefore?: string;
};

/** No field. */
export const nothing = z.strictObject({});

type NoFields = typeof nothing;

/** How pages and actions are added: see `createPortalRoutes`. */
export type PortalRoutes = {
  page<Query extends z.ZodType = NoFields, Params extends z.ZodType = NoFields>(
    path: string,
    options: PageOptions<Query, Params>,
    show: (
      request: PageRequest<z.output<Query>, z.output<Params>>,
    ) => Promise<PortalPage | PortalFile>,
  ): void;
  action<
    Form extends z.ZodType = NoFields,
    Params extends z.ZodType = NoFields,
    Query extends z.ZodType = NoFields,
  >(
    path: string,
    action: Action<Form, Params, Query>,
  ): void;
};

import type { z } from 'zod';

import type { Scope } from '#access/grants/scopes.ts';
import type { Actor } from '#shared/audit.ts';

import type { FormProblem, Once, PortalPage, TypedFields } from '../page.ts';
import type { PortalPerson } from '../person.ts';
import type { nothing } from './check-input.ts';
import type { PortalFile } from './send-page.ts';

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

/** Filters that were left out by their names, for their fields: what was typed, and what is wrong with it. */
export type WrongFilters = Readonly<Record<string, { value: string; error: string } | undefined>>;

type PageRequest<Query, Params> = Pick<FormRequest, 'person' | 'session' | 'path'> & {
  query: Query;
  /** Empty where nothing is wrong, and on what is no list. */
  wrong: WrongFilters;
  params: Params;
  /** What the action that led here left. The frame shows it. */
  once: Once | undefined;
};

export type ActionOptions<
  Form extends z.ZodType,
  Params extends z.ZodType,
  Query extends z.ZodType,
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
   * what shows a secret. Its `postForm` says `isDoneOnce`.
   */
  doneOnce?: boolean;
  /** The page with the form, at the same address. A form that did not fit stands on it again. */
  page?: (request: FormRequest<z.output<Params>, z.output<Query>>) => Promise<PortalPage>;
  /** Of that page's address. */
  query?: Query;
  /**
   * The form again, where another page has it: for what its schema refused, and for what the use case did
   * by `validation-failed` or another code of 400, 409, 412 or 422. Without either such an error is a page
   * of its own.
   */
  onProblems?: (request: FormRequest<z.output<Params>>) => Promise<PortalPage>;
};

export type ActionRequest<Form, Params> = {
  person: PortalPerson;
  /** For use cases: who does it, by which request. */
  origin: { actor: Actor; requestId: string; signal: AbortSignal };
  /** For what belongs to the session itself. */
  session: { digest: Buffer };
  form: Form;
  params: Params;
};

/** Where an action leads: a page of the portal, with what it shows once. */
export type ActionResult = Once & { location: string };

/** For a page with a form, when it is opened and when its form came back. */
export type FormRequest<Params = unknown, Query = unknown> = {
  person: PortalPerson;
  /** For what belongs to the session itself. */
  session: { digest: Buffer };
  /** Where the form is sent. */
  path: string;
  params: Params;
  /** Undefined when the form came back. */
  query: Query | undefined;
  /** What the form is to hold again; empty when the page is opened. Never put a secret back into it. */
  typed: TypedFields;
  /** Empty when the page is opened. */
  problems: readonly FormProblem[];
};

type NoFields = typeof nothing;

/** How pages and actions are added: see `createPortalRoutes`. */
export type PortalRoutes = {
  page<Query extends z.ZodType = NoFields, Params extends z.ZodType = NoFields>(
    path: string,
    options: PageOptions<Query, Params>,
    handler: (
      request: PageRequest<z.output<Query>, z.output<Params>>,
    ) => Promise<PortalPage | PortalFile>,
  ): void;
  action<
    Form extends z.ZodType = NoFields,
    Params extends z.ZodType = NoFields,
    Query extends z.ZodType = NoFields,
  >(
    path: string,
    options: ActionOptions<Form, Params, Query>,
    handler: (request: ActionRequest<z.output<Form>, z.output<Params>>) => Promise<ActionResult>,
  ): void;
};

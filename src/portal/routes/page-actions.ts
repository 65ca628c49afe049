/** Actions as data: what the pages of a section offer. */
import type { z } from 'zod';
import type { PagesContext } from '../context.ts';
import type { Action, nothing, PortalRoutes } from './route-types.ts';

type PageAction<Form extends z.ZodType, Params extends z.ZodType, Query extends z.ZodType> = Action<
  Form,
  Params,
  Query,
  [context: PagesContext]
> & { path: string };

type AnyPageAction = PageAction<z.ZodType, z.ZodType, z.ZodType>;

type NoFields = typeof nothing;

/** One action; its handlers get what pages work on, then the request as its schemas say it. */
export const action = <
  Form extends z.ZodType = NoFields,
  Params extends z.ZodType = NoFields,
  Query extends z.ZodType = NoFields,
>(
  given: PageAction<Form, Params, Query>,
) => given as unknown as AnyPageAction;

export function addActions(
  portal: PortalRoutes,
  context: PagesContext,
  actions: readonly AnyPageAction[],
): void {
  for (const { path, page, confirm, onProblems, run, ...rest } of actions)
    portal.action<z.ZodType, z.ZodType, z.ZodType>(path, {
      ...rest,
      ...(page && { page: (request) => page(context, request) }),
      ...(confirm && { confirm: (request) => confirm(context, request) }),
      ...(onProblems && { onProblems: (request) => onProblems(context, request) }),
      run: (request) => run(context, request),
    });
}

import type { Answer } from './answer.ts';
import type { AppDesk } from './callers/app-desk.ts';
import type { TokenGrant } from './callers/caller.ts';
import type { World } from '../world/model.ts';
import type { Quota } from './callers/quota.ts';
import type { Route } from './route.ts';

/** What answering a request takes. */
export type Responder = {
  world: World;
  tokens: ReadonlyMap<string, TokenGrant>;
  apps: AppDesk;
  quota: Quota;
  /** Below a repository. */
  routes: readonly Route[];
  /** Rendered lists, kept until the world changes. */
  memo: { version: number; answers: Map<string, Answer> };
};

import type { TrackerResponse } from './response.ts';
import type { AppTokens } from './callers/app-tokens.ts';
import type { TokenGrant } from './callers/caller.ts';
import type { World } from '../world/model.ts';
import type { Quota } from './callers/quota.ts';
import type { Route, TrackerRequest } from './route.ts';

/** State that responses are made from. */
export type Responder = {
  world: World;
  tokens: ReadonlyMap<string, TokenGrant>;
  apps: AppTokens;
  quota: Quota;
  /** Below a repository. */
  routes: readonly Route[];
  /** The App's view of its own webhook. */
  appHook: {
    config(): TrackerResponse;
    deliveries(request: TrackerRequest): TrackerResponse;
  };
  /** Rendered lists, remembered until the world changes. */
  memo: { version: number; responses: Map<string, TrackerResponse> };
};

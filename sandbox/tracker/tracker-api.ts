import type { Clock } from '#shared/clock.ts';
import type { NewId } from '#shared/ids.ts';
import type { AppGrant } from './api/callers/app-tokens.ts';
import type { CallLog } from '../instruments/call-log.ts';
import type { TokenGrant } from './api/callers/caller.ts';
import type { Controls } from '../instruments/controls.ts';
import type { Fault } from '../instruments/faults.ts';
import type { Barrier, BarrierMatch } from '../instruments/barriers.ts';
import type { HookTarget } from './hooks/hook.ts';
import type { Hooks } from './hooks/hooks.ts';
import type { QuotaState } from './api/callers/quota.ts';

export type TrackerOptions = {
  /** `owner/name`; default `acme/leads`. */
  repository?: string;
  /** Default 0: any free port, always on 127.0.0.1. */
  port?: number;
  /** Default: `sandbox-admin-token`, which may do everything. */
  tokens?: readonly TokenGrant[];
  app?: AppGrant;
  webhooks?: readonly HookTarget[];
  /** Real milliseconds that every response takes at least; default 0. */
  latencyMs?: number;
  /** Requests an hour and user; default 5,000. */
  quota?: number;
  /** Rows up to which `page` is served without a cursor; default 1,000. */
  pageWall?: number;
  /** Time for which a read does not see a write; default 0. Counted by `clock`. */
  replicaLagMs?: number;
  /** Seed of faults by chance; default 1. */
  seed?: number;
  clock?: Clock;
  newId?: NewId;
};

/** A GitHub-compatible tracker on a loopback port, with its controls. */
export type Tracker = Controls & {
  /** `http://127.0.0.1:port`: the API's root. */
  readonly url: string;
  readonly repository: string;
  readonly calls: CallLog;
  readonly hooks: Hooks;
  addWebhook(url: string, secret: string): void;
  /** Arms a fault; default for the next matching request only. */
  fault(fault: Fault): void;
  clearFaults(): void;
  /** Holds matching responses back until the barrier opens. */
  hold(match?: BarrierMatch): Barrier;
  setQuota(patch: Partial<QuotaState>): void;
  setLatency(ms: number): void;
  suspendInstallation(id: number, isSuspended: boolean): void;
  revokeInstallationTokens(): void;
  /** Lets deliveries under way finish, then stops listening. */
  close(): Promise<void>;
};

import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type Lead } from '@trackport/client';
import type { Claims } from '#leads/claims/claim-view.ts';
import { SECOND } from '#shared/clock.ts';
import { lookPatiently } from './look.ts';
import { type Run, someInstance } from './run.ts';

/** A tool that keeps a copy of the leads by the lead feed. */
export type Follower = {
  /** Follows one instance after the other, some seconds each, whatever is killed meanwhile. */
  keepFollowing(): Promise<void>;
  /** Follows on until the copy is what a walk shows. */
  catchUp(): Promise<void>;
};

/** Changes that no webhook told are looked for once a second here. */
const CAUGHT_UP_WITHIN_MS = 60 * SECOND;
const LOOK_EVERY_MS = 200;

export function createFollower(run: Run, key: string): Follower {
  const { report, random } = run;
  const copy = new Map<string, Lead>();
  let cursor: string | undefined;

  const follow = async (baseUrl: string, signal: AbortSignal): Promise<void> => {
    const before = await readClaims(run);
    const from = cursor === undefined ? ('start' as const) : undefined;
    const feed = createClient({ baseUrl, apiKey: key }).changes({ cursor, from, signal });
    try {
      for await (const change of feed) {
        if (change.type === 'lead.removed') copy.delete(change.id);
        else {
          copy.set(change.id, change.lead);
          await expectUnclaimed(run, change.id, before);
        }
        cursor = change.cursor;
        report.changes += 1;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  };
  const differences = async (): Promise<string[]> => {
    const found: string[] = [];
    const left = new Set(copy.keys());
    const { publicUrl: baseUrl } = run;
    for await (const lead of createClient({ baseUrl, apiKey: key }).leads({ state: 'all' })) {
      const held = copy.get(lead.id);
      if (!held) found.push(`lacks the lead ${lead.id}`);
      else if (JSON.stringify(held) !== JSON.stringify(lead))
        found.push(`has an old state of the lead ${lead.id}`);
      left.delete(lead.id);
    }
    return [...found, ...[...left].map((id) => `holds the lead ${id}, which is not shown`)];
  };
  return {
    keepFollowing: async () => {
      while (!run.isOver())
        await follow(
          someInstance(run).url,
          AbortSignal.timeout(Math.ceil((1 + random() * 5) * SECOND)),
        );
    },
    catchUp: async () => {
      const end = new AbortController();
      const following = follow(run.publicUrl, end.signal);
      const until = Date.now() + CAUGHT_UP_WITHIN_MS;
      let found = await differences();
      for (; found.length > 0 && Date.now() < until; found = await differences())
        await sleep(LOOK_EVERY_MS);
      end.abort();
      await following;
      report.violations.push(...found.map((what) => `the copy by the lead feed ${what}`));
    },
  };
}

function readClaims(run: Run): Promise<Claims> {
  return lookPatiently(run, (findings) => findings.claims());
}

/** A lead that was claimed before the feed was asked never comes as changed, unless the claim was taken back. */
async function expectUnclaimed(run: Run, id: string, before: Claims): Promise<void> {
  if (!before.has(Number(id)) || !(await readClaims(run)).has(Number(id))) return;
  run.report.violations.push(`the lead feed showed the claimed lead ${id}`);
}

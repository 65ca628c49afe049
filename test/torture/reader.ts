import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Claims } from '#leads/claims/claim-view.ts';
import { programFile } from '../support/program.ts';
import { lookPatiently } from './look.ts';
import type { Run } from './run.ts';

const execute = promisify(execFile);

/** A consumer that keeps reading all leads, as a sales tool does. */
export type Reader = {
  /** Its API key. */
  key: string;
  /** Reads the whole list of one instance once, and counts it; a walk that fails half-way tells nothing. */
  read(url: string): Promise<void>;
  /** Leads that were there, then gone, then there again, on one instance: others may lag behind it. */
  shownAgain(): readonly string[];
  /** Leads that an instance showed though they were claimed before it was asked, and after. */
  shownClaimed(): readonly string[];
};

/** Registers the consumer by command line, beside the running instances. */
export async function createReader(
  run: Pick<Run, 'instances' | 'store' | 'report'>,
): Promise<Reader> {
  const create = ['consumer', 'create', 'reader', '--grant', 'leads:read', '--json'];
  const args = [programFile(), ...create, '--config', run.instances[0]?.config ?? ''];
  const { key } = JSON.parse((await execute(process.execPath, args)).stdout) as { key: string };
  const claims = (): Promise<Claims> => lookPatiently(run, (findings) => findings.claims());
  const histories = new Map<string, History>();
  const shownAgain = new Set<string>();
  const shownClaimed = new Set<string>();
  return {
    key,
    read: async (url) => {
      const before = await claims();
      const visible = await walk(url, key);
      if (!visible) return;
      run.report.walks += 1;
      const { seen, gone } = historyOf(histories, url);
      for (const id of visible) if (gone.has(id)) shownAgain.add(id);
      for (const id of seen) if (!visible.has(id)) gone.add(id);
      for (const id of visible) seen.add(id);
      const suspects = [...visible].filter((id) => before.has(Number(id)));
      if (suspects.length === 0) return;
      const after = await claims(); // the worker may have taken one back
      for (const id of suspects) if (after.has(Number(id))) shownClaimed.add(id);
    },
    shownAgain: () => [...shownAgain],
    shownClaimed: () => [...shownClaimed],
  };
}

/** Leads that one instance has shown, by their ids. */
type History = { seen: Set<string>; gone: Set<string> };

function historyOf(histories: Map<string, History>, url: string): History {
  const known = histories.get(url) ?? { seen: new Set(), gone: new Set() };
  histories.set(url, known);
  return known;
}

/** The ids of all leads. Undefined when an instance could not say. */
export async function walk(url: string, key: string): Promise<Set<string> | undefined> {
  const ids = new Set<string>();
  try {
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const next = cursor === '' ? '' : `&cursor=${cursor}`;
      const address = `${url}/api/v1/leads?state=all&limit=100${next}`;
      const answer = await fetch(address, { headers: { 'x-api-key': key } });
      if (answer.status !== 200) return undefined;
      const page = (await answer.json()) as {
        items: { id: string }[];
        pagination: { nextCursor?: string };
      };
      for (const { id } of page.items) ids.add(id);
      cursor = page.pagination.nextCursor;
    }
  } catch {
    return undefined; // killed meanwhile
  }
  return ids;
}

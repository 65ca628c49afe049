import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A consumer that keeps reading all leads, as a sales tool does. */
export type Reader = {
  /** Reads the whole list once; a walk that fails half-way tells nothing. */
  read(url: string): Promise<void>;
  /** Leads that were there, then gone, then there again. */
  shownAgain(): readonly string[];
  walks(): number;
};

/** Registers the consumer by command line, beside the running service. */
export async function createReader(config: string): Promise<Reader> {
  const create = ['consumer', 'create', 'reader', '--grant', 'leads:read', '--json'];
  const args = ['bin/trackport.js', ...create, '--config', config];
  const { key } = JSON.parse((await run(process.execPath, args)).stdout) as { key: string };
  const seen = new Set<string>();
  const gone = new Set<string>();
  const shownAgain = new Set<string>();
  let walks = 0;
  return {
    read: async (url) => {
      const visible = await walk(url, key);
      if (!visible) return;
      walks += 1;
      for (const id of visible) if (gone.has(id)) shownAgain.add(id);
      for (const id of seen) if (!visible.has(id)) gone.add(id);
      for (const id of visible) seen.add(id);
    },
    shownAgain: () => [...shownAgain],
    walks: () => walks,
  };
}

async function walk(url: string, key: string): Promise<Set<string> | undefined> {
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

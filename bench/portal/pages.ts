import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { scratchFolder } from '../../test/support/at-exit.ts';
import { start } from '../processes.ts';
import { type BenchRow, median } from '../row.ts';
import { fetchTimed, signIn } from './person.ts';

export type PageScale = { requests: number };

/** A page is this at most, with everything that a first visit brings. */
const BYTES_MAX = 50_000;
const ASSET = /(?:href|src)="(\/portal\/assets\/[^"]+)"/g;

/** Lists, and where they lead: the first thing in each. */
const PAGES: readonly [string, RegExp?][] = [
  ['/portal'],
  ['/portal/consumers', /href="(\/portal\/consumers\/[\w-]{36})"/],
  ['/portal/receipts', /href="(\/portal\/receipts\/[\w-]{36})"/],
  ['/portal/partners'],
  ['/portal/catalog', /href="(\/portal\/catalog\/[^"?/]+)"/],
  ['/portal/audit'],
];

/** Bytes of each page of the portal, and how long its first byte takes, as the sandbox fills them. */
export async function measurePages(scale: PageScale): Promise<BenchRow[]> {
  using scratch = scratchFolder('bench');
  const { path: folder } = scratch;
  // It has a folder of its own, which must go with ours.
  const sandbox = ['bin/trackport.js', 'sandbox', '--port', '0'];
  const service = await start(sandbox, { TMPDIR: folder });
  try {
    const cookie = await signIn(service.url);
    const rows: BenchRow[] = [];
    for (const [list, first] of PAGES) {
      const html = await htmlOf(service.url + list, cookie);
      const below = first && first.exec(html)?.[1];
      for (const page of below === undefined ? [list] : [list, below]) {
        const name = page === list ? list : `${list}/:id`;
        rows.push(...(await measurePage({ url: service.url, page, name, cookie, folder }, scale)));
      }
    }
    return rows;
  } finally {
    await service.stop();
  }
}

async function htmlOf(url: string, cookie: string): Promise<string> {
  const { status, body } = await fetchTimed(url, cookie);
  if (status !== 200) throw new Error(`${url} is ${status}`);
  return body.toString();
}

type Place = { url: string; page: string; name: string; cookie: string; folder: string };

async function measurePage(place: Place, { requests }: PageScale): Promise<BenchRow[]> {
  const { url, page, name, cookie, folder } = place;
  const html = await htmlOf(url + page, cookie);
  let bytes = Buffer.byteLength(html);
  for (const [, asset = ''] of html.matchAll(ASSET))
    bytes += (await fetchTimed(url + asset)).body.length;
  const file = path.join(folder, 'page');
  writeFileSync(file, html);
  const bare = await start(['bench/leads/bare-server.ts', file]);
  try {
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let count = 0; count < requests; count += 1) {
      ours.push((await fetchTimed(url + page, cookie)).firstByteMs);
      theirs.push((await fetchTimed(`${bare.url}/bytes`)).firstByteMs);
    }
    const source = `median of ${requests}, one after the other`;
    const note = `${median(ours).toFixed(1)} ms, a bare Fastify ${median(theirs).toFixed(1)} ms`;
    return [
      {
        what: `bytes of ${name} with style sheet, script and picture`,
        value: bytes,
        wanted: { atMost: BYTES_MAX },
        source: 'as sent, a first visit',
        note: `${Buffer.byteLength(html)} without them`,
      },
      {
        what: `first byte of ${name} / a bare Fastify that sends the same bytes`,
        value: median(ours) / median(theirs),
        source,
        note,
      },
    ];
  } finally {
    await bare.stop();
  }
}

/** What the build is made of: `dist/sbom.cdx.json` (CycloneDX) and `dist/licenses.txt`. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Each may be used, changed and passed on, also for money, where its text goes along. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'Unlicense',
]);

const root = fileURLToPath(new URL('..', import.meta.url));
const SBOM = 'dist/sbom.cdx.json';

/** Reads what the bundler says that it took. Throws for a licence that nobody has looked at. */
export function writeNotices() {
  const options = ['--gather-license-texts', '--output-reproducible', '-o', SBOM];
  const tool = 'node_modules/@cyclonedx/cyclonedx-esbuild/bin/cyclonedx-esbuild-cli.js';
  execFileSync(process.execPath, [tool, ...options, 'dist/meta.json'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const text = readFileSync(`${root}/${SBOM}`, 'utf8').replaceAll(
    'trackport-checkout',
    'trackport',
  );
  const { metadata, components, ...others } = JSON.parse(text);
  delete metadata.component.description; // of the checkout
  writeFileSync(`${root}/${SBOM}`, JSON.stringify({ ...others, metadata, components }, null, 2));
  writeLicences(components);
}

function writeLicences(components) {
  const others = components.filter((component) => !isAllowed(component));
  if (others.length > 0)
    throw new Error(`licences to look at: ${others.map(({ name }) => name).join(', ')}`);
  writeFileSync(
    `${root}/dist/licenses.txt`,
    components.map(noticeOf).join(`\n${'-'.repeat(80)}\n\n`),
  );
}

const licenceOf = ({ licenses = [] }) => licenses[0]?.license?.id ?? licenses[0]?.expression;

const isAllowed = (component) => ALLOWED.has(licenceOf(component));

function noticeOf({ group, name, version, licenses, evidence }) {
  const title = `${group ? `${group}/` : ''}${name} ${version}, ${licenceOf({ licenses })}\n\n`;
  const texts = (evidence?.licenses ?? []).map(({ license: { text } }) =>
    Buffer.from(text.content, text.encoding ?? 'utf8').toString(),
  );
  return title + (texts.join('\n') || 'Its package holds no text of the licence.\n');
}

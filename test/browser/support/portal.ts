/**
 * The portal of the sandbox in a real browser: the real service, the real provider, the pages as people
 * see them. Where there is no Chromium, what needs one is skipped by its name.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import { startSandboxService } from '../../../src/compose/sandbox.ts';
import { createLogOutput } from '../../../src/compose/telemetry/log-output.ts';
import { openPage } from '../../e2e/support/browser.ts';
import type { Watched } from '../../e2e/support/browser.ts';
import { findChromium, launchChromium } from '../../e2e/support/chromium.ts';

const chromium = findChromium();
/** A browser and a sandbox start slowly where all tests run at once. */
const TIMEOUT_MS = 180_000;

if (chromium === undefined)
  process.stderr.write('No Chromium found (see CHROMIUM_PATH): the tests of pages are skipped.\n');

/** Who can sign in to the sandbox, and the name that the portal shows. */
export const PEOPLE = {
  owner: 'Olivia Owner',
  operator: 'Otto Operator',
  reader: 'Rita Reader',
} as const;

export type PersonName = keyof typeof PEOPLE;

export const WITHOUT_SCRIPT: BrowserContextOptions = { javaScriptEnabled: false };

/** A page of a browser with a profile of its own, and what it complained of. */
export type OpenPage = (options?: BrowserContextOptions) => Promise<Watched>;

/** Tests that share one browser. Skipped where there is none. */
export function describeInBrowser(name: string, body: (open: OpenPage) => void): void {
  describe.skipIf(chromium === undefined)(`${name} (in Chromium)`, { timeout: TIMEOUT_MS }, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchChromium(chromium ?? '');
    }, TIMEOUT_MS);
    afterAll(() => browser.close());
    body((options) => openPage(browser, options));
  });
}

export type SandboxPortal = {
  /** Of the service. */
  url: string;
  /** What it logged so far. */
  log: () => string;
  /** What it printed: commands to paste. */
  printed: () => string;
};

/** A sandbox in this process, stopped when the running test ends. */
export async function startSandboxPortal(): Promise<SandboxPortal> {
  const lines: string[] = [];
  const printed: string[] = [];
  const service = await startSandboxService({
    environment: {},
    port: '0',
    clock: systemClock,
    logOutput: createLogOutput({
      clock: systemClock,
      openFile: () => ({
        write: (bytes, done) => {
          lines.push(bytes.toString());
          done(null, bytes.length);
        },
        writeNow: (bytes) => bytes.length,
      }),
    }),
    print: (text) => void printed.push(text),
  });
  onTestFinished(() => service.stop());
  return { url: service.url, log: () => lines.join(''), printed: () => printed.join('') };
}

/** From wherever the portal asks for a sign-in to the page that was asked for. */
export async function signInAs(page: Page, person: PersonName): Promise<void> {
  await page.getByRole('link', { name: /^Continue to/ }).click();
  await page.getByRole('button', { name: PEOPLE[person] }).click();
  await page.locator('.foot', { hasText: PEOPLE[person] }).waitFor();
}

/** Opens a path of the portal and signs in on the way. */
export async function openAs(
  page: Page,
  { url, path, person }: { url: string; path: string; person: PersonName },
): Promise<void> {
  await page.goto(`${url}${path}`);
  await signInAs(page, person);
}

const require = createRequire(import.meta.url);
let axe: string | undefined;

/** What axe finds on a page in the scheme that it has, as `rule: element` lines. Needs script. */
async function axeFindings(page: Page): Promise<string[]> {
  axe ??= readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
  await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResults>('axe.run(document)');
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target }) => `${id}: ${target.join(' ')}`),
  );
}

/** The same in both schemes. */
export async function axeFindingsInBothSchemes(page: Page): Promise<string[]> {
  const findings: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const found = await axeFindings(page);
    findings.push(...found.map((finding) => `${colorScheme}: ${finding}`));
  }
  return findings;
}

type AxeResults = { violations: { id: string; nodes: { target: string[] }[] }[] };

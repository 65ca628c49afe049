/**
 * The portal of the sandbox in a real browser: the real service, the real provider, the pages as people
 * see them. Where there is no Chromium, what needs one is skipped by its name.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { describe, onTestFinished } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import { startSandboxService } from '#compose/sandbox.ts';
import { logOutputTo } from '../../support/log-output.ts';
import { openPage, type Watched } from '../../e2e/support/browser.ts';
import { findChromium, launchChromium } from '../../e2e/support/chromium.ts';

/** A browser and a sandbox start slowly where all tests run at once. */
const TIMEOUT_MS = 180_000;

if (findChromium() === undefined)
  process.stderr.write('No Chromium found (see CHROMIUM_PATH): the tests of pages are skipped.\n');

/** People of the sandbox, by the name that the portal shows. */
export const PEOPLE = {
  owner: 'Olivia Owner',
  operator: 'Otto Operator',
  reader: 'Rita Reader',
} as const;

type PersonName = keyof typeof PEOPLE;

export const WITHOUT_SCRIPT: BrowserContextOptions = { javaScriptEnabled: false };

/** A page of a browser with a profile of its own, and what it complained of. */
export type OpenPage = (options?: BrowserContextOptions) => Promise<Watched>;

/** Shared by tests of all files. */
type Shared = {
  open: OpenPage;
  /** A sandbox that goes on to the next test: for those who do not mind what others did there. */
  portal: () => Promise<SandboxPortal>;
};

/** Of this process, by the switches that each is without: they serve all files that it runs, and end with it. */
const browsers = new Map<string, Promise<Browser>>();
let sandbox: Promise<SandboxPortal> | undefined;

function sharedBrowser(chromium: string, without: string[]): Promise<Browser> {
  const name = without.join();
  const browser = browsers.get(name) ?? launchChromium(chromium, without);
  browsers.set(name, browser);
  return browser;
}

/** Tests in a browser. Skipped where there is none. `keepsPages`: in memory, for *Back*. */
export function describeInBrowser(
  name: string,
  body: (shared: Shared) => void,
  { keepsPages = false } = {},
): void {
  const chromium = findChromium({ isWhole: keepsPages });
  const without = keepsPages ? ['--disable-back-forward-cache'] : [];
  describe.skipIf(chromium === undefined)(`${name} (in Chromium)`, { timeout: TIMEOUT_MS }, () => {
    body({
      open: async (options) => openPage(await sharedBrowser(chromium ?? '', without), options),
      portal: () => (sandbox ??= startSandbox()),
    });
  });
}

type SandboxPortal = {
  /** Of the service. */
  url: string;
  /** Its log so far. */
  log: () => string;
  /** Its output: commands to paste. */
  printed: () => string;
};

/** A sandbox of the running test's own, stopped when that ends. */
export async function startSandboxPortal(): Promise<SandboxPortal> {
  const { stop, ...portal } = await startSandbox();
  onTestFinished(stop);
  return portal;
}

/** A sandbox in this process. */
async function startSandbox(): Promise<SandboxPortal & { stop: () => Promise<void> }> {
  const lines: string[] = [];
  const printed: string[] = [];
  const logOutput = logOutputTo((line) => void lines.push(line));
  const service = await startSandboxService(
    { environment: {}, clock: systemClock, logOutput },
    { port: '0', print: (text) => void printed.push(text) },
  );
  return {
    url: service.url,
    log: () => lines.join(''),
    printed: () => printed.join(''),
    stop: () => service.stop(),
  };
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

/** Rules that depend on the scheme. */
const COLORS = ['color-contrast', 'link-in-text-block'];

/** Findings of axe on a page as it is shown, as `rule: element` lines: by all rules, or those alone. */
async function axeFindings(page: Page, runOnly?: string[]): Promise<string[]> {
  axe ??= readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(axe);
  const options = JSON.stringify({ runOnly, resultTypes: ['violations'] });
  // The page sends these lines alone: most of what axe returns tells what was in order.
  return page.evaluate<string[]>(`axe.run(document, ${options}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ': ' + target.join(' '))),
  )`);
}

const IS_WIDER = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';

/** A phone, and a desk. */
const WIDTHS = [320, 1280];

/**
 * Finds faults of the open page by axe, and parts wider than the window. The width decides about all that is shown,
 * the scheme about colours alone: those of the dark one are looked at in the widest window.
 */
export async function findingsOn(page: Page, widths = WIDTHS): Promise<string[]> {
  const findings: string[] = [];
  await page.emulateMedia({ colorScheme: 'light' });
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    const found = await axeFindings(page);
    if (await page.evaluate(IS_WIDER)) found.push('wider than the window');
    findings.push(...found.map((finding) => `${page.url()} ${width}: ${finding}`));
  }
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await axeFindings(page, COLORS);
  return [...findings, ...dark.map((finding) => `${page.url()} dark: ${finding}`)];
}

/** The same of the pages at these addresses. */
export async function findingsAt(page: Page, addresses: readonly string[]): Promise<string[]> {
  const findings: string[] = [];
  for (const address of addresses) {
    await page.goto(address);
    await page.locator('h1').waitFor();
    findings.push(...(await findingsOn(page)));
  }
  return findings;
}

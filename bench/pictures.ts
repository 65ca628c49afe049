/**
 * `npm run pictures`: draws the two pictures of the README into `docs/images`, from the sandbox as it is, in the
 * Chromium that is found (`CHROMIUM_PATH`). A day of deliveries is played in half a minute, by a clock
 * that goes from yesterday to now.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { type Clock, HOUR, systemClock } from '#shared/clock.ts';
import { startSandboxService } from '#compose/sandbox.ts';
import { logOutputTo } from '../test/support/log-output.ts';
import { signedBy } from '../test/support/signed-by.ts';
import { findChromium, launchChromium } from '../test/e2e/support/chromium.ts';
import { showOnStandardError } from './progress.ts';

const FOLDER = 'docs/images';
const SIZE = { width: 1280, height: 720 };
const HOURS = 24;
/** Lets the worker finish an hour's events. */
const HOUR_TAKES_MS = 800;
/** Deletions of each hour, from 23 hours ago to now: quiet by night. */
const DELETIONS = [9, 14, 11, 8, 6, 4, 3, 2, 1, 1, 0, 1, 1, 2, 3, 5, 9, 14, 17, 21, 19, 16, 22, 11];
/** Whose contact is known, and issue 13. */
const KNOWN_CONTACT = 4711;

type Sandbox = { url: string; tracker: string; banner: string; stop(): Promise<void> };

async function startSandbox(clock: Clock): Promise<Sandbox> {
  let banner = '';
  const program = { environment: {}, clock, logOutput: logOutputTo(() => undefined) };
  const service = await startSandboxService(program, {
    port: '0',
    print: (text) => {
      banner += text;
    },
  });
  const tracker = read(banner, /Tracker: (\S+)/);
  return { url: service.url, banner, tracker, stop: () => service.stop() };
}

function read(text: string, pattern: RegExp): string {
  const [, found] = pattern.exec(text) ?? [];
  if (found === undefined) throw new Error(`the sandbox does not print ${pattern}`);
  return found;
}

/** A batch of crm-two, signed at the clock's time. */
async function send({ url, banner }: Sandbox, clock: Clock, events: object[]): Promise<void> {
  const address = `${url}/api/v1/webhooks/partners/crm-two/deletions`;
  const body = JSON.stringify(events);
  const secret = read(banner, /-hmac '([^']+)' -binary/);
  const { status } = await fetch(address, {
    method: 'POST',
    headers: signedBy('signature-v3', secret, { body, uri: address, at: clock.now() }),
    body,
  });
  if (status !== 202) throw new Error(`the sandbox answered a delivery with ${status}`);
}

/** Events of an hour: deletions, news that delete nothing, now and then a stranger. */
function eventsOf(hour: number, count: number): object[] {
  const event = (index: number, type: string, objectId: number): object => ({
    subscriptionType: type,
    eventId: hour * 1000 + index,
    portalId: 1,
    objectId,
  });
  const deletions = Array.from({ length: count }, (_, index) =>
    event(index, 'contact.deletion', KNOWN_CONTACT),
  );
  const news = Array.from({ length: Math.floor(count / 6) }, (_, index) =>
    event(500 + index, 'contact.creation', KNOWN_CONTACT),
  );
  const strangers = [7, 12].includes(hour) ? [event(900, 'contact.deletion', 999)] : [];
  return [...deletions, ...news, ...strangers];
}

async function drawPortal(browser: Browser): Promise<void> {
  let behindMs = HOURS * HOUR;
  const clock: Clock = { ...systemClock, now: () => Date.now() - behindMs };
  const sandbox = await startSandbox(clock);
  const onProgress = showOnStandardError();
  try {
    for (const [hour, count] of DELETIONS.entries()) {
      behindMs = (HOURS - 1 - hour) * HOUR;
      const events = eventsOf(hour, count);
      if (events.length > 0) await send(sandbox, clock, events);
      await systemClock.sleep(HOUR_TAKES_MS);
      onProgress(hour + 1, HOURS, 'hours');
    }
    const page = await browser.newPage({ viewport: SIZE, timezoneId: 'UTC' });
    await page.goto(`${sandbox.url}/portal`);
    await page.getByRole('link', { name: /^Continue to/ }).click();
    await page.getByRole('button', { name: 'Olivia Owner' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.screenshot({ path: `${FOLDER}/portal.png`, fullPage: true });
    await page.close();
  } finally {
    await sandbox.stop();
  }
}

/** The banner's commands that read a lead, delete it, and read it again, with what they print. */
async function playTerminal({ banner }: Sandbox): Promise<string> {
  const blockOf = (title: string): string =>
    read(banner, new RegExp(`: ${title}[^\\n]*\\n(.*?)\\n(?:\\n|$)`, 's'));
  const lead = blockOf('Read one lead');
  // The one that stands on top of the tracker's page.
  const [, newest = ''] = /leads\/(\d+)/.exec(lead) ?? [];
  const deletion = blockOf('Have crm-one delete lead 1').replace(
    '"leadId":"1"',
    `"leadId":"${newest}"`,
  );
  const run = async (lines: string): Promise<string> => {
    // The sandbox lives in this process, which must not wait for the shell.
    const { stdout } = await promisify(execFile)('sh', ['-c', lines]);
    return `<b>$ ${escape(shorten(lines))}</b>\n${escape(shorten(stdout))}\n`;
  };
  const head = banner.slice(0, banner.indexOf('\n: ')).trim();
  const steps = [`<b>$ npm start</b>\n${escape(head)}\n`];
  for (const lines of [lead, deletion, lead]) steps.push(await run(lines));
  return steps.join('\n');
}

const shorten = (text: string): string =>
  text.replaceAll(/\b(tpk_\w{6})\w+/g, '$1…').replaceAll(/\b(sandbox_\w{4}_)\w+/g, '$1…');

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').trimEnd();

async function drawSandbox(browser: Browser): Promise<void> {
  const sandbox = await startSandbox(systemClock);
  try {
    const text = await playTerminal(sandbox);
    const page = await browser.newPage({ viewport: { width: 780, height: 900 } });
    await page.goto(sandbox.tracker);
    // The worker writes to the tracker a moment after the delivery, and the page loads itself again.
    await page.getByText('deleted-by-partner').waitFor();
    const tracker = (await page.screenshot()).toString('base64');
    // The tracker's own page lets no pictures in.
    await page.close();
    await drawBeside(browser, { text, tracker, address: sandbox.tracker });
  } finally {
    await sandbox.stop();
  }
}

type Sides = { text: string; tracker: string; address: string };

async function drawBeside(browser: Browser, { text, tracker, address }: Sides): Promise<void> {
  const page = await browser.newPage({ viewport: SIZE });
  await page.setContent(`<style>
      body { margin: 0; padding: 20px; display: flex; gap: 20px; background: #e8eaee; font: 11px/1.5 monospace }
      section { flex: 1; height: 680px; border-radius: 8px; overflow: hidden; background: #fff }
      header { padding: 8px 12px; background: #d5d9e0 }
      pre { margin: 0; padding: 12px; height: 100%; background: #14171c; color: #cfd5de; font: inherit; white-space: pre-wrap; overflow-wrap: anywhere }
      b { color: #fff } img { width: 100% }
    </style>
    <section><header>Terminal</header><pre>${text}</pre></section>
    <section><header>${address}</header><img src="data:image/png;base64,${tracker}" alt=""></section>`);
  await page.screenshot({ path: `${FOLDER}/sandbox.png` });
  await page.close();
}

const chromium = findChromium();
if (chromium === undefined) throw new Error('no Chromium found: name one in CHROMIUM_PATH');
const browser = await launchChromium(chromium);
try {
  await drawPortal(browser);
  await drawSandbox(browser);
} finally {
  await browser.close();
}

/** A page that is worked by keyboard alone: nothing is clicked, and nothing gets the focus but by Tab. */
import type { Locator, Page } from 'playwright-core';
import type { Watched } from '../../e2e/support/browser.ts';
import { type OpenPage, WITHOUT_SCRIPT } from './portal.ts';

/**
 * A page as every flow of the portal has to work: by keyboard alone, and without script, which listens to no
 * key. With script and a pointer people work wherever a test opens pages by itself.
 */
export async function openWorked(open: OpenPage): Promise<Watched> {
  const opened = await open(WITHOUT_SCRIPT);
  return { ...opened, page: byKeyboard(opened.page) };
}

/** More than any page has stops. */
const STOPS_MAX = 250;

/** The same page; what flows do with its links, buttons and fields is done by keys. */
function byKeyboard(page: Page): Page {
  return wrap(page, page);
}

type Choice = string | { label: string };

/** Steps of a flow on a locator, by keys. */
const keys: Readonly<
  Record<string, (page: Page, target: Locator, value: Choice) => Promise<void>>
> = {
  click: async (page, target) => {
    await focus(page, target);
    await page.keyboard.press('Enter');
  },
  check: async (page, target) => {
    if ((await target.getAttribute('type')) === 'radio') return chooseRadio(page, target);
    await focus(page, target);
    if (!(await target.isChecked())) await page.keyboard.press('Space');
  },
  fill: async (page, target, value) => {
    await focus(page, target);
    const text = typeof value === 'string' ? value : value.label;
    if ((await target.getAttribute('type')) === 'date') return typeDate(page, text);
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.press('Delete');
    await page.keyboard.insertText(text);
  },
  selectOption: async (page, target, choice) => {
    await focus(page, target);
    await page.keyboard.press('Home');
    for (let options = 0; !(await isChosen(target, choice)); options += 1) {
      if (options > 50) throw new Error(`no option ${JSON.stringify(choice)}`);
      await page.keyboard.press('ArrowDown');
    }
  },
};

function wrap<T extends Page | Locator>(page: Page, object: T): T {
  return new Proxy(object, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const act = target === (page as unknown) ? undefined : keys[String(name)];
      if (act) return (given: Choice) => act(page, target as Locator, given);
      return (...given: unknown[]) => {
        const result: unknown = value.apply(target, given);
        return isLocator(result) ? wrap(page, result) : result;
      };
    },
  });
}

function isLocator(value: unknown): value is Locator {
  return typeof value === 'object' && value !== null && 'selectOption' in value;
}

/** Presses Tab until the element has the focus; first, without a look, as often as it will take at the least. */
async function focus(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  const stopsMin = await stopsBefore(target);
  for (let stops = 0; stops < stopsMin; stops += 1) await page.keyboard.press('Tab');
  await tabUntil(page, () => isFocused(target), String(target));
}

async function tabUntil(page: Page, isThere: () => Promise<boolean>, what: string): Promise<void> {
  for (let stops = 0; stops < STOPS_MAX; stops += 1) {
    if (await isThere()) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the keyboard does not reach ${what}`);
}

const STOPS = 'a, button, input, select, textarea, summary';

/** Counts the stops between the element with the focus and one that comes after it; parts of a field count once. */
const stopsBefore = (target: Locator): Promise<number> =>
  target.evaluate((element, selector) => {
    const { activeElement } = element.ownerDocument;
    const stops = [...element.ownerDocument.querySelectorAll(selector)].filter(
      (one) =>
        one.tabIndex >= 0 &&
        !one.disabled &&
        one.checkVisibility() &&
        (one.type !== 'radio' || one.checked),
    );
    return stops.indexOf(element) - stops.indexOf(activeElement) - 1;
  }, STOPS);

const isFocused = (target: Locator): Promise<boolean> =>
  target.evaluate((element) => element.matches(':focus'));

/** Tab stops once in a group of radio buttons; arrows choose within it. */
async function chooseRadio(page: Page, target: Locator): Promise<void> {
  const group = page.locator(`input[name="${await target.getAttribute('name')}"]:focus`);
  await tabUntil(page, async () => (await group.count()) > 0, String(target));
  for (let steps = 0; !(await isFocused(target)); steps += 1) {
    if (steps > 20) throw new Error(`the arrows do not reach ${String(target)}`);
    await page.keyboard.press('ArrowDown');
  }
  if (!(await target.isChecked())) await page.keyboard.press('Space');
}

/** As a browser that speaks American English takes a day: month, day, year. */
async function typeDate(page: Page, day: string): Promise<void> {
  const [year = '', month = '', date = ''] = day.split('-');
  await page.keyboard.type(`${month}${date}${year}`);
}

async function isChosen(target: Locator, choice: Choice): Promise<boolean> {
  if (typeof choice === 'string') return (await target.inputValue()) === choice;
  return (await target.locator('option:checked').innerText()) === choice.label;
}

import { html } from '#portal/html.ts';
import { renderPage } from '#portal/shell/frame.ts';
import { refusal } from '#portal/routes/error-views.ts';
import { renderSignIn } from '#portal/sign-in/views.ts';
import type { Once } from '#portal/page.ts';
import { expect, test } from 'vitest';
import { flat, person, viewer } from './support.ts';

const portal = { repository: 'corvane/leads' };
const frame = { person, currentPath: '/portal/receipts?status=FAILED' };
const page = { title: 'Receipts', section: 'receipts' as const, body: html`<p>here</p>` };

test('a page has its title, its place in the navigation, and its body', () => {
  const text = renderPage(portal, frame, page);
  expect(text).toMatch(/^<!doctype html>/i);
  expect(text).toContain('<title>Receipts · Trackport</title>');
  expect(text).toContain('<h1>Receipts</h1>');
  expect(text).toContain('href="/portal/receipts" aria-current="page"');
  expect(text).toContain('<p>here</p>');
});

test('on a page below a section the section is current, not the page', () => {
  const below = { ...page, crumbs: [] };
  const text = renderPage(portal, { ...frame, currentPath: '/portal/receipts/7' }, below);
  expect(text).toContain('href="/portal/receipts" aria-current="true"');
  expect(text).toContain('<li><a href="/portal/receipts"><bdi>Receipts</bdi></a></li>');
});

test('what one may not see is not offered', () => {
  const paths = (scopes: string[]) =>
    renderPage(portal, { ...frame, person: { ...person, scopes } }, page)
      .match(/<a href="\/portal[^"]*">/g)
      ?.map((text) => text.slice('<a href="'.length, -2));
  expect(paths(['catalog:read'])).toEqual(['/portal', '/portal/catalog']);
  expect(paths([])).toEqual(['/portal']);
  expect(paths(['trackport:admin'])).not.toContain('/portal/catalog');
});

test('a page that came back with problems says so first', () => {
  expect(renderPage(portal, frame, { ...page, hasProblems: true })).toContain(
    '<title>Error: Receipts',
  );
});

test.each([
  [[], 'guest'],
  [['catalog:read', 'catalog:write'], 'writer of the catalog'],
  [['trackport:admin', 'catalog:read'], 'operator and reader of the catalog'],
])(
  'the foot says who is there, in which workspace and, with the scopes %j, as %s',
  (scopes, role) => {
    const text = flat(renderPage(portal, { ...frame, person: { ...person, scopes } }, page));
    expect(text).toContain(`<strong>Operations on call</strong>Workspace corvane, as ${role}</p>`);
  },
);

test('every page holds the warning before the session ends, for the script that shows it', () => {
  const text = renderPage(portal, frame, page);
  const [warning = ''] = /<p[^>]*data-ends[^]*?<\/p>/.exec(text) ?? [];
  expect(warning).toContain(`data-ends="${person.sessionEndsMs}"`);
  expect(warning).toMatch(/role="status"[^>]*\shidden\s*>/);
  expect(warning).toContain('Your session ends within five minutes');
});

test('dead letters that wait stand beside the receipts', () => {
  const withDead = (n: number) => renderPage({ ...portal, deadLetters: () => n }, frame, page);
  expect(withDead(1200)).toContain('1,200<span class="vh"> dead');
  expect(withDead(0)).not.toContain('class="count"');
});

test('the form of the frame carries the token', () => {
  const forms = renderPage(portal, frame, page).split('<form').slice(1);
  expect(forms).toEqual([expect.stringContaining('value="token-of-the-session"')]);
});

test('nothing is inline and nothing comes from elsewhere', () => {
  const text = renderPage(portal, frame, page);
  expect(text).not.toMatch(/<style|<script>|\son[a-z]+=|\sstyle=/);
  expect(text.match(/(?:src|href)="(?!\/portal|#main)[^"]*"/g)).toBeNull();
});

test('what an action left is shown above the body', () => {
  const secret = { heading: 'Keep it', value: 'tpk_1', text: 'Once.', command: 'curl' };
  const once: Once = { notice: 'Key made', secret };
  const text = renderPage(portal, { ...frame, once }, page);
  // One notice, and it warns.
  expect(text.match(/class="notice"/g)).toHaveLength(1);
  expect(text).toMatch(/data-s="warn".*Key made Once\./s);
  expect(text).toContain('<output id="secret"');
  expect(text).toMatch(/data-copy="secret"\s+hidden/);
  expect(text.indexOf('tpk_1')).toBeLessThan(text.indexOf('<p>here</p>'));
});

test('a refusal says what happened and the next step', () => {
  const given = { code: 'insufficient-scope', requestId: 'r-1' } as const;
  const text = refusal({ ...given, text: 'Not for you.', nextStep: 'Ask.' }, viewer).toString();
  expect(text).toMatch(/403\s*<code>insufficient-scope<\/code>/);
  expect(text).toContain('Not for you.');
  expect(text).toContain('<b>Next step:</b> Ask.');
  expect(text).toContain('21 Nov 14:02:10');
  expect(refusal(given, viewer).toString()).toContain('Next step:');
});

const atIssuer = (repository: string) => ({
  repository,
  issuer: 'https://id.corvane.example/realm',
  publicUrl: () => 'https://a.example.com',
});

test('the sign-in says where it leads', () => {
  const reason = {
    state: 'mute',
    heading: 'Your session ended',
    text: 'It lasts 8 hours.',
  } as const;
  const text = renderSignIn(atIssuer('corvane/leads'), '/portal/audit', reason);
  expect(text).toContain('href="https://a.example.com/portal/sign-in/start?to=%2Fportal%2Faudit"');
  expect(text).toContain('Continue to id.corvane.example');
  expect(text).toContain('Your session ended');
  expect(text).not.toContain('<nav');
});

/** Files of `deploy/github`, and the commands of `docs/how-to/github.md`. */
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '#config/load.ts';
import { toLead } from '#leads/model/lead.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { takeBlock } from '../support/documents.ts';
import { rsaKeys } from '../../support/rsa-keys.ts';

const base = { tracker: { repository: 'acme/leads', auth: { token: 't' } } };

describe('the issue form that the project ships', () => {
  type Element = { type: string; id: string; attributes: { label: string } };
  const text = readFileSync('deploy/github/ISSUE_TEMPLATE/lead.yml', 'utf8');
  const template = parse(text) as { name: string; description: string; body: Element[] };
  const { leads, deletions } = loadConfig({ environment: {}, settings: base });

  /** As GitHub writes the body of an issue from a form. */
  const render = (values: Record<string, string>): string =>
    template.body
      .filter(({ type }) => type !== 'markdown')
      .map(
        ({ id, attributes }) => `### ${attributes.label}\r\n\r\n${values[id] ?? '_No response_'}`,
      )
      .join('\r\n\r\n');

  const readLead = (values: Record<string, string>) =>
    toLead(
      {
        number: 1,
        title: 'Contact request',
        body: render(values),
        state: 'open',
        labels: ['approved'],
        assignees: [],
        createdAt: 0,
        updatedAt: 0,
        isPullRequest: false,
      },
      { ...leads, deletedLabel: deletions.deletedLabel },
    ).contact;

  test('has the headings of the default leads.form, in its order, with one text area', () => {
    expect(template.body.map(({ attributes }) => attributes.label)).toEqual(
      leads.form.map(({ heading }) => heading),
    );
    const isMultiline = template.body.map(({ type }) => type === 'textarea');
    expect(isMultiline).toEqual(leads.form.map(({ multiline }) => multiline));
  });

  test('is read with every field', () => {
    const values = {
      'first-name': 'Ada',
      email: 'ada@example.com',
      company: 'Made-up Media',
      interest: 'Order API',
      message: 'How many?\r\n\r\n### Email\r\n\r\nevil@example.com',
      'source-page': '/docs',
    };
    const { 'first-name': firstName, 'source-page': sourcePage, message, ...rest } = values;
    const lines = message.replaceAll('\r\n', '\n');
    expect(readLead(values)).toEqual({ ...rest, firstName, sourcePage, message: lines });
    expect(readLead({})).toEqual({});
  });
});

describe("the App's manifest", () => {
  type Manifest = {
    hook_attributes: { url: string };
    default_permissions: Record<string, string>;
    default_events: string[];
  };
  const text = readFileSync('deploy/github/app-manifest.json', 'utf8');
  const manifest = JSON.parse(text) as Manifest;
  const page = readFileSync('deploy/github/create-app.html', 'utf8');

  test('asks for what is needed, and no more', () => {
    expect(manifest.default_permissions).toEqual({ issues: 'write', metadata: 'read' });
    expect(manifest.default_events).toEqual(['issues', 'label', 'repository']);
    expect(manifest.hook_attributes.url).toMatch(/\/api\/v1\/webhooks\/github$/);
  });

  test('is posted to GitHub as it stands by a page that needs no script and no other host', () => {
    const [, posted = ''] =
      /<textarea [^>]*name="manifest"[^>]*>(.*?)<\/textarea>/s.exec(page) ?? [];
    expect(JSON.parse(posted)).toEqual(manifest);
    expect(page).toContain('<form method="post" action="https://github.com/settings/apps/new">');
    expect(page).not.toMatch(/(?:src|href)=|@import/);
  });
});

const tools = ['sh', 'curl', 'node'].every(
  (tool) => spawnSync(tool, ['--version']).error === undefined,
);

test.skipIf(!tools)('the code of the manifest becomes a key file and a configuration', () => {
  const commands = takeBlock('docs/how-to/github.md', 'CODE=paste-the-code-here');
  const folder = temporaryFolder();
  const { privateKey: pem } = rsaKeys();
  const app = { id: 17, pem, webhook_secret: 's3', html_url: 'https://github.com/apps/trackport' };
  const response = path.join(folder, 'response.json');
  writeFileSync(response, JSON.stringify(app));
  // curl reads the response from a file; the rest is as the document has it.
  const local = commands
    .replace('-X POST ', '')
    .replace(
      /"https:\/\/api\.github\.com\/app-manifests\/\$CODE\/conversions"/,
      `"file://${response}"`,
    );
  const { stdout, stderr } = spawnSync('sh', ['-e'], {
    input: local,
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] },
  });
  expect([stdout, stderr]).toEqual([
    'appId 17\nwebhook secret s3\ninstall it at https://github.com/apps/trackport/installations/new\n',
    '',
  ]);
  const keyFile = path.join(folder, 'github-app.pem');
  expect(statSync(keyFile).mode & 0o077).toBe(0);

  const settings = takeBlock('docs/how-to/github.md', 'appId: "123456"');
  const file = path.join(folder, 'trackport.yaml');
  writeFileSync(file, settings.replace('github-app.pem', keyFile));
  const { tracker } = loadConfig({ file, environment: { GITHUB_WEBHOOK_SECRET: 'x'.repeat(32) } });
  expect(tracker.auth).toMatchObject({ appId: '123456', installationId: '7654321' });
  expect(tracker.auth.privateKey?.reveal().trim()).toBe(pem.trim());
});

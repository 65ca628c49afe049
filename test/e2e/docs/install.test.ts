/**
 * `docs/how-to/install.md`. What changes the system itself (systemctl, an engine for containers) is run by no test.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { writeNotices } from '../../../scripts/notices.js';
import { makePackage } from '../../../scripts/package.js';
import { temporaryFolder } from '../../support/folder.ts';
import { takeBlock } from '../support/documents.ts';
import { hasTools, runWell } from '../support/samples.ts';

// Processes start one after the other, on a machine that may have other work.
vi.setConfig({ testTimeout: 180_000 });

const systemd = takeBlock('docs/how-to/install.md', 'install -d /opt/trackport').trim().split('\n');

test('the steps for systemd install a program and a configuration that any user can read', async () => {
  const root = temporaryFolder();
  const steps = systemd.filter((step) => !step.startsWith('systemctl '));
  const config = path.join(temporaryFolder(), 'trackport.yaml');
  writeFileSync(config, '{ tracker: { repository: acme/leads, auth: { token: none } } }');
  mkdirSync(path.join(root, 'etc/systemd/system'), { recursive: true });
  writeNotices();
  makePackage();
  spawnSync('npm', ['pack', './package', '--pack-destination', root]);
  const here = steps
    .join('\n')
    .replaceAll(/(?<= )\/(?=opt|etc)/g, `${root}/`)
    .replace(' trackport-*', ` --prefer-offline ${root}/trackport-*`)
    .replace(' trackport.yaml ', ` ${config} `);
  await runWell(here, {});
  const installed = path.join(root, 'etc/trackport/trackport.yaml');
  expect(statSync(installed).mode & 0o004).toBe(0o004);
  const unit = readFileSync(path.join(root, 'etc/systemd/system/trackport.service'), 'utf8');
  const [, program = ''] = /^ExecStart=.* (\/opt\S+) serve/m.exec(unit) ?? [];
  expect(statSync(path.join(root, program)).mode & 0o004).toBe(0o004);
});

test.skipIf(!hasTools('systemd-analyze'))(
  'systemd-analyze finds nothing wrong with the unit',
  () => {
    const { status, stderr } = spawnSync(
      'systemd-analyze',
      ['verify', '--man=no', 'deploy/trackport.service'],
      { encoding: 'utf8' },
    );
    const complaints = stderr.split('\n').filter((line) => line.includes('trackport.service'));
    expect([status, complaints]).toEqual([0, []]);
  },
);

test('who cannot start while PostgreSQL is away is started again without an end, but for a wrong configuration', () => {
  const unit = readFileSync('deploy/trackport.service', 'utf8');
  expect(unit).toMatch(/^Restart=on-failure$/m);
  expect(unit).toMatch(/^RestartPreventExitStatus=2$/m);
  expect(unit.split('[Service]')[0]).toMatch(/^StartLimitIntervalSec=0$/m);
});

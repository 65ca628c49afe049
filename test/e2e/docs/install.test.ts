import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('the steps for systemd copy what the image holds, and install what is there', () => {
  const [image = ''] = readFileSync('Dockerfile', 'utf8').split(/^FROM node.*\n(?=ENV)/m);
  const inImage = [...image.matchAll(/^COPY (.+) \S+$/gm)]
    .flatMap(([, names = '']) => names.split(' '))
    .filter((name) => name !== 'LICENSE');
  const document = readFileSync('docs/how-to/install.md', 'utf8');
  const [, copied = ''] = /^cp -r (.+) \/opt\/trackport$/m.exec(document) ?? [];
  expect(copied.split(' ').sort()).toEqual(inImage.sort());
  const installed = [...document.matchAll(/^install -m \d+ (deploy\/\S+)/gm)];
  expect(installed.map(([, file = '']) => [file, existsSync(file)])).toEqual([
    ['deploy/trackport.service', true],
  ]);
  const unit = readFileSync('deploy/trackport.service', 'utf8');
  for (const place of ['/opt/trackport', '/etc/trackport/trackport.yaml'])
    expect([unit.includes(place), document.includes(place)]).toEqual([true, true]);
});

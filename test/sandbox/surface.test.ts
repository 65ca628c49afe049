import { request } from 'node:http';

import { describe, expect, test } from 'vitest';

import { callControl, readControl } from '#sandbox/instruments/remote-controls.ts';

import { openReceiver, openTracker, REPO, send } from './support.ts';

async function pageOf(url: string): Promise<{ status: number; text: string; headers: Headers }> {
  const response = await fetch(url);
  return { status: response.status, text: await response.text(), headers: response.headers };
}

describe('pages for people', () => {
  test('escape everything that a visitor could have typed', async () => {
    const tracker = await openTracker();
    const nasty = `<script>alert('x')</script>"&`;
    const fields = { [nasty]: nasty };
    tracker.createIssue({
      title: nasty,
      body: nasty,
      labels: [nasty],
      author: '<b>',
      type: nasty,
      fields,
    });
    tracker.addComment(1, nasty);
    for (const path of ['/', '/acme/leads/issues/1']) {
      const { text } = await pageOf(`${tracker.url}${path}`);
      expect(text).not.toContain('<script');
      expect(text).not.toContain('<b>ghost');
      expect(text).toContain('&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot;&amp;');
    }
  });
});

test('the page of an issue shows its type and its typed fields', async () => {
  const tracker = await openTracker();
  const fields = { Size: 3, Region: { option: 'EMEA' }, Products: ['A', 'B'] };
  tracker.createIssue({ title: 'A', type: 'Request', fields });
  const { text } = await pageOf(`${tracker.url}/acme/leads/issues/1`);
  expect(text).toContain('>Request</span>');
  const rows = text.match(/<th scope="row">.*?<\/td>/g) ?? [];
  expect(rows.map((row) => row.replaceAll(/<[^>]+>/g, ' ').trim())).toEqual([
    'Size  3',
    'Region  EMEA',
    'Products  A, B',
  ]);
  expect((await pageOf(tracker.url)).text).toContain('>Request</span>');
});

describe('controls over HTTP', () => {
  test('do what the functions of the same names do', async () => {
    const tracker = await openTracker();
    const { url } = tracker;
    await callControl(url, 'createIssue', { title: 'A', labels: ['approved'] });
    await callControl(url, 'relabel', 1, { add: ['x'], remove: ['Approved'] });
    await callControl(url, 'setState', 1, 'closed');
    expect(await readControl(url, 'issues')).toMatchObject([
      { number: 1, state: 'closed', labels: [{ name: 'x' }] },
    ]);
    await callControl(url, 'fault', { kind: 'status', status: 500 });
    expect((await send(tracker, `GET ${REPO}`)).status).toBe(500);
    expect(await readControl(url, 'calls')).toMatchObject([{ path: REPO, status: 500 }]);
    await callControl(url, 'deleteIssue', 1);
    expect((await send(tracker, `GET ${REPO}/issues/1`)).status).toBe(410);
    await expect(callControl(url, 'deleteIssue', 1)).rejects.toThrow('has no issue 1');
    await expect(callControl(url, 'nothing')).rejects.toThrow('no control nothing');
  });

  test('hold webhooks and answers back', async () => {
    const tracker = await openTracker();
    const { url, received } = await openReceiver();
    await callControl(tracker.url, 'addWebhook', url, 'secret');
    await callControl(tracker.url, 'hooks.settled');
    await callControl(tracker.url, 'hooks.hold');
    await callControl(tracker.url, 'createIssue', { title: 'A' });
    expect(received).toHaveLength(1);
    await callControl(tracker.url, 'hooks.release');
    expect(received).toHaveLength(2);
    const gate = await callControl(tracker.url, 'hold', { path: '/issues/1$' });
    const held = send(tracker, `GET ${REPO}/issues/1`);
    await callControl(tracker.url, 'arrived', gate);
    await callControl(tracker.url, 'setState', 1, 'closed');
    await callControl(tracker.url, 'open', gate);
    expect((await held).data).toMatchObject({ state: 'open' });
  });

  test('are out of reach for a page of another site', async () => {
    const tracker = await openTracker();
    tracker.createIssue({ title: 'A' });
    const target = `${tracker.url}/_control/deleteIssue`;
    const form = await fetch(target, {
      method: 'POST',
      body: '[1]',
      headers: { 'content-type': 'text/plain' },
    });
    expect(form.status).toBe(415);
    const rebound = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { host: 'evil.example', 'content-type': 'application/json' };
      request(target, { method: 'POST', headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end('[1]');
    });
    expect(rebound).not.toBe(200);
    expect(tracker.readIssue(1)).toBeDefined();
  });
});

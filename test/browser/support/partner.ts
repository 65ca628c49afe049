import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { sendDeletion } from '../../e2e/support/world.ts';
import { startSandboxPortal } from './portal.ts';

const WRITES_REFUSED = {
  kind: 'status',
  status: 422,
  json: { message: 'Validation Failed' },
  method: 'PATCH',
  count: 100,
};

type Settings = {
  tracker: { apiUrl: string };
  partners: Record<string, { scheme: string; secrets: ({ value: string } | string)[] }>;
};

/** The sandbox with a partner that deletes leads, and a tracker that refuses on demand. */
export async function startWithPartner() {
  const portal = await startSandboxPortal();
  const [, path = ''] = /CONFIG='([^']+)'/.exec(portal.printed()) ?? [];
  const [, leadId = ''] = /"leadId":"(\d+)"/.exec(portal.printed()) ?? [];
  const { tracker, partners } = parse(readFileSync(path, 'utf8')) as Settings;
  const first = partners['crm-one']?.secrets[0];
  const secret = (typeof first === 'string' ? first : first?.value) ?? '';
  const control = async (name: string, ...args: unknown[]): Promise<void> => {
    const { status } = await fetch(`${tracker.apiUrl}/_control/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(args),
    });
    expect(status).toBe(200);
  };
  return {
    url: portal.url,
    leadId,
    /** Every write to an issue is understood and refused from now on. */
    refuseWrites: () => control('fault', WRITES_REFUSED),
    /** Every write fails in a way that may pass. */
    breakWrites: () => control('fault', { ...WRITES_REFUSED, status: 503 }),
    acceptWrites: () => control('clearFaults'),
    /** Sends a signed deletion of the lead; the id of its receipt. */
    deleteLead: async (): Promise<string> => {
      const event = { eventId: `e-${leadId}`, leadId };
      const response = await sendDeletion(portal.url, event, { secret });
      return ((await response.json()) as { id: string }).id;
    },
  };
}

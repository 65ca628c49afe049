import { callControl } from '#sandbox/instruments/remote-controls.ts';
import { signedBy } from '../test/support/signed-by.ts';

/** Secret of the partner `crm-one` of the bench. */
export const PARTNER_SECRET = 'bench-secret-of-crm-one';

/** The section that lets it send deletions. With a partner there is a lead directory, and a crawl. */
export const partners = { 'crm-one': { scheme: 'hmac-sha256', secrets: [PARTNER_SECRET] } };

/** Has the lead of this number deleted. @throws Error when it is not accepted */
export async function deleteLead(serviceUrl: string, number: number): Promise<void> {
  const body = JSON.stringify({ leadId: String(number) });
  const response = await fetch(`${serviceUrl}/api/v1/webhooks/partners/crm-one/deletions`, {
    method: 'POST',
    headers: signedBy('hmac-sha256', PARTNER_SECRET, { body }),
    body,
  });
  if (response.status !== 202) throw new Error(`a deletion got ${response.status}`);
  await response.arrayBuffer();
}

/** True when the tracker has the issue open. */
export async function isOpen(trackerUrl: string, number: number): Promise<boolean> {
  return (await callControl<{ state: string }>(trackerUrl, 'readIssue', number)).state === 'open';
}

import type { PortalPerson } from '#portal/page.ts';

/** Text that no page may take for markup. */
export const hostile = `"><script>alert('1')</script>&`;

export const viewer = { nowMs: Date.parse('2026-11-21T14:02:10Z') };

export const person: PortalPerson = {
  subject: 'ops',
  name: 'Operations on call',
  workspaceId: 'corvane',
  scopes: ['trackport:admin', 'catalog:read'],
  formToken: 'token-of-the-session',
  formId: 'id-of-a-form-on-a-page',
  sessionEndsMs: Date.parse('2026-11-21T15:30:00Z'),
};

/** Fails where a text became markup, or left its attribute. */
export function isInert(html: { toString(): string }): boolean {
  const text = html.toString();
  return !text.includes('<script>') && !/="[^"]*"[^\s/>]/.test(text);
}

/** In one line and without spaces around tags, as if no formatter had seen the template. */
export function flat(html: { toString(): string }): string {
  return html
    .toString()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(' >', '>')
    .replaceAll(/(?<=>) | (?=<)/g, '');
}

/** The start of the hours of a picture, oldest first, the last one being the hour that runs. */
export function hoursUntil(nowMs: number, hours: number): number[] {
  const last = Math.floor(nowMs / 3_600_000) * 3_600_000;
  return Array.from({ length: hours }, (_, at) => last - (hours - 1 - at) * 3_600_000);
}

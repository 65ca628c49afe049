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

/** In one line and without spaces around tags, as if no formatter had seen the template. */
export function flat(html: { toString(): string }): string {
  return html
    .toString()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(' >', '>')
    .replaceAll(/(?<=>) | (?=<)/g, '');
}

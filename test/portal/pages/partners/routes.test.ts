import { expect, test } from 'vitest';
import { partnerPages } from '#portal/pages/partners/routes.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { buildPartners } from '../../../support/partners.ts';
import { startPortal } from '../../../support/portal/portal.ts';

test('operators see the partners of the configuration, nobody else does', async () => {
  const clock = createFakeClock();
  const { partners } = buildPartners({ clock });
  const { signIn } = startPortal((portal) => partnerPages(portal, { partners, clock }));
  const { status, body } = await (await signIn()).get('/portal/partners');
  expect(status).toBe(200);
  expect(body).toContain('id="p-crm-one"');
  expect(body).toContain('id="p-crm-two"');
  expect(await (await signIn(['catalog:read'])).get('/portal/partners')).toMatchObject({
    status: 403,
  });
});

import { z } from 'zod';
import type { Certificate } from '#partners/receipts/certificate.ts';
import { html, type Html } from '../../html.ts';
import { receiptPath, RECEIPTS_PATH, SECTIONS } from '../../paths.ts';
import { page } from '../../routes/page-route.ts';
import { body, card, list } from '../../shell/card.ts';
import { foreign, link, note } from '../../shell/elements.ts';
import { counted } from '../../shell/times.ts';

/** `/portal/receipts/:id/certificate`: the file that a partner files. */
export const certificateFile = page({
  path: `${RECEIPTS_PATH}/:id/certificate`,
  scope: SECTIONS.receipts.scope,
  params: z.object({ id: z.string().max(64) }),
  show: async ({ partners, publicUrl }, { params: { id } }) => {
    const receipt = await partners.receipts.find(id);
    const certificate = await partners.readCertificate(receipt.id, publicUrl());
    const content = certificate ? await partners.certificates.sign(certificate.claims) : '';
    return { fileName: `receipt-${receipt.id}.jwt`, mediaType: 'application/jwt', content };
  },
});

/** Certificate for a partner to file, and the consumers of the lead feed that were not sent the removal yet. */
export function certificateCard({ claims, behind }: Certificate): Html {
  const readers = claims.events.flatMap((event) => event.readers ?? []);
  const isOpen = claims.events.some(({ outcome }) => outcome === 'PENDING');
  return card(
    { id: 'h-certificate', heading: 'Certificate' },
    body(
      html`<p>
        ${link(receiptPath(claims.jti, 'certificate'), 'Download certificate', {
          look: 'button',
          download: true,
        })}
      </p>`,
      note(
        isOpen
          ? 'It says that work is still under way: a later one says how it ended.'
          : 'Signed: anybody can check it, offline.',
      ),
      readers.length > 0 &&
        readersView(behind, { isFollowed: readers.some((one) => one.following > 0) }),
    ),
  );
}

function readersView(behind: readonly string[], { isFollowed }: { isFollowed: boolean }): Html {
  if (!isFollowed) return html`<p>No consumer that could read a lead follows the lead feed.</p>`;
  if (behind.length === 0)
    return html`<p>
      Every consumer that follows the lead feed, and could read a lead, has read past its removal.
    </p>`;
  return html`<p>
      ${counted(
        behind.length,
        'consumer that could read a lead and follows the lead feed has',
        'consumers that could read a lead and follow the lead feed have',
      )}
      not read past its removal:
    </p>
    ${list(...behind.map((name) => foreign(name)))}`;
}

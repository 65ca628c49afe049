import { auditEntryOut } from '#access/audit/audit-out.ts';
import { auditActions } from '#shared/audit.ts';
import { paginationOut } from '#shared/pagination/page.ts';
import { z } from 'zod';
import { pageParameters, sinceParameter } from '../../requests/parameters.ts';

/** Longer than any subject of ours: a workspace and an artifact's id among them. */
const TEXT_CHARACTERS_MAX = 512;

const exactly = (description: string) =>
  z
    .string('must be given once')
    .min(1, 'must not be empty')
    .max(TEXT_CHARACTERS_MAX, `must have at most ${TEXT_CHARACTERS_MAX} characters`)
    .exactOptional()
    .describe(description);

export const auditListQuery = z.strictObject({
  ...pageParameters,
  actor: exactly('Who did it: the subject of a token, or the user of the command line.'),
  action: z
    .enum(auditActions, `must be one of ${auditActions.join(', ')}`)
    .exactOptional()
    .describe('What was done.'),
  subject: exactly(
    'What it was done to: `consumer/ID` (keys too), `claim/NUMBER`, `receipt/ID`, `receipts` or `artifact/WORKSPACE/ID`, the last with the id in lower case.',
  ),
  since: sinceParameter.exactOptional().meta({ description: 'Done at or after this instant.' }),
});

export const auditListOut = z
  .object({ items: z.array(auditEntryOut), pagination: paginationOut })
  .meta({ id: 'AuditList' });

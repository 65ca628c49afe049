import { describe, expect, test } from 'vitest';
import { hashIdentity } from '#leads/directory/lead-directory.ts';
import { decide, eventKeys, namesOf, readEvent } from '#partners/event.ts';
import { createPartner } from '#partners/partner.ts';
import { parseJsonText } from '#shared/text/json.ts';
import {
  combiningMarks,
  GROWTH_TIMEOUT_MS,
  growthOf,
  LINEAR_GROWTH_MAX,
  repeated,
} from '../../support/work/growth.ts';
import { secretsOf } from '../../support/partners.ts';
import { keyOf } from '../../support/keys.ts';

const partner = createPartner('crm-one', { scheme: 'hmac-sha256', secrets: secretsOf('one') });
const directoryKey = keyOf(5);

/** Work on an event until it is matched. */
function take(body: string): void {
  const bytes = Buffer.from(body);
  const event = readEvent(partner.fields, parseJsonText(bytes));
  decide(partner, 'deletions', event);
  eventKeys(directoryKey, { partnerId: 'crm-one', path: 'deletions' }, event, bytes);
  for (const name of event ? namesOf('crm-one', event) : [])
    if (name.kind !== 'lead-id') hashIdentity(directoryKey, name);
}

const texts = {
  'combining marks': combiningMarks,
  'capitals with dots': repeated('İ'),
  'marks of direction': repeated('\u202e\u2066'),
  digits: repeated('1'),
  'angle brackets': repeated('<@'),
  'blanks between letters': (characters: number) => `a${' '.repeat(characters)}a`,
};

describe('a signed event is taken in linear time, whatever it holds', () => {
  test.each(Object.entries(texts))(
    '%s',
    (_what, make) => {
      const bodyOf = (characters: number): string => {
        const text = make(characters);
        const fields = ['eventType', 'eventId', 'externalId', 'leadId', 'email', 'correlationId'];
        return JSON.stringify(Object.fromEntries(fields.map((field) => [field, text])));
      };
      expect(growthOf(bodyOf, take)).toBeLessThan(LINEAR_GROWTH_MAX);
    },
    GROWTH_TIMEOUT_MS,
  );

  test(
    'also an e-mail address alone, which is none',
    () => {
      const bodyOf = (characters: number): string =>
        JSON.stringify({ email: `${combiningMarks(characters)}@example.com` });
      expect(growthOf(bodyOf, take)).toBeLessThan(LINEAR_GROWTH_MAX);
    },
    GROWTH_TIMEOUT_MS,
  );
});

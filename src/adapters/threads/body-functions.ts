/** What the thread of `body-readers.ts` runs. */
import { readSpecBody } from '#catalog/spec/spec-body.ts';
import type { SpecBody } from '#catalog/spec/spec-body.ts';
import { readDelivery } from '#partners/intake/read-delivery.ts';
import type { DeliveredEvent, DeliveryFields } from '#partners/intake/read-delivery.ts';
import { parseJsonText } from '#shared/text/json.ts';
import type { JsonRules } from '#shared/text/json.ts';

export { readSpecText as specText } from '#catalog/spec/spec-text.ts';
export { parseFormText as form } from '#shared/text/form-text.ts';

export function parse({ bytes, rules }: { bytes: Uint8Array; rules: JsonRules }): unknown {
  return parseJsonText(bytes, rules);
}

export function specBody(bytes: Uint8Array): SpecBody {
  return readSpecBody(bytes);
}

type Delivered = { bytes: Uint8Array; fields: DeliveryFields };

export function delivery({ bytes, fields }: Delivered): DeliveredEvent[] {
  return readDelivery(bytes, fields);
}

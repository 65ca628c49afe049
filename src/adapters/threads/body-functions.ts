/** Functions of the threads of `body-readers.ts`. */
import { readSpecBody, type SpecBody } from '#catalog/spec/spec-body.ts';
import { type DeliveredEvent, type DeliveryFields, readDelivery } from '#partners/read-delivery.ts';
import { type JsonRules, parseJsonText } from '#shared/text/json.ts';

export { parseFormText as form } from '#shared/text/form-text.ts';

export function parse({ bytes, rules }: { bytes: Uint8Array; rules: JsonRules }): unknown {
  return parseJsonText(bytes, rules);
}

export function specBody(bytes: Uint8Array): SpecBody {
  return readSpecBody(bytes);
}

/** A thread that reads no YAML goes without its parser. */
export async function specText(text: string): Promise<string> {
  const { readSpecText } = await import('#catalog/spec/spec-text.ts');
  return readSpecText(text);
}

type Delivered = { bytes: Uint8Array; fields: DeliveryFields };

export function delivery({ bytes, fields }: Delivered): DeliveredEvent[] {
  return readDelivery(bytes, fields);
}

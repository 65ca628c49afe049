import { TrackportError } from '#shared/errors.ts';
import { rawNumber } from '#shared/text/json.ts';
import { readYaml, renderYamlFault } from '#shared/text/yaml.ts';

/** `refuse` gets in words why a text is not one document. */
type Refuse = (reason: string) => never;

/** YAML 1.2 core as JSON text. Numbers keep every digit. Throws as `refuse` does. */
export function jsonOfYaml(text: string, refuse: Refuse): Buffer {
  const read = readYaml(text, { exactNumbers: true });
  if ('faults' in read) return refuse(read.faults.map(renderYamlFault).join('; '));
  const writeNumber = (_key: string, value: unknown): unknown => {
    if (typeof value === 'bigint') return rawNumber(value.toString());
    if (typeof value === 'number' && !Number.isFinite(value))
      return refuse('JSON has no infinite numbers');
    return value;
  };
  return Buffer.from(JSON.stringify(read.value, writeNumber) ?? 'null');
}

/** @throws {malformed-json} always */
export function refuseYaml(what: string, reason: string): never {
  throw new TrackportError('malformed-json', {
    detail: `${what} is not one YAML document: ${reason}.`,
  });
}

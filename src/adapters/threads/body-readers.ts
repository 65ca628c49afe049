import { readSpecBody, type ReadSpecBody, type SpecBody } from '#catalog/spec/spec-body.ts';
import type { ReadSpecText } from '#catalog/spec/spec-text.ts';
import {
  type DeliveredEvent,
  type DeliveryFields,
  readDelivery,
  type ReadDelivery,
} from '#partners/read-delivery.ts';
import { transferablesOf } from '#shared/bytes.ts';
import { type FormPairs, parseFormText } from '#shared/text/form-text.ts';
import { type JsonRules, parseJsonText } from '#shared/text/json.ts';
import { isHeavy, refuseThread, type Thread } from './thread.ts';

/**
 * Reads of bodies that hold up nobody, whatever stands in it: what could take more than a few
 * milliseconds is parsed in a thread, and only what is needed of it comes back. With `signal` it is dropped
 * when its caller hangs up before its turn.
 */
export type BodyReaders = {
  /** As `parseJsonText`, which it is for most texts. */
  parse: (bytes: Buffer, rules: JsonRules, signal?: AbortSignal) => unknown;
  specBody: ReadSpecBody;
  /** A few lines of YAML can take a parser half a second: it never runs here. */
  specText: ReadSpecText;
  delivery: ReadDelivery;
  /** As `parseFormText`. A large form's bytes are transferred, and gone afterwards. */
  form: (bytes: Buffer, signal?: AbortSignal) => FormPairs | Promise<FormPairs>;
};

/** All forms but those that hold a spec. */
const INLINE_FORM_BYTES_MAX = 64 * 1024;

/** All throw `overloaded` when the thread is. What partners send goes before all else that waits. */
export function createBodyReaders(thread: Thread<typeof bodyFunctions>): BodyReaders {
  return {
    parse: (bytes, rules, signal) =>
      isHeavy(bytes)
        ? thread.run('parse', { bytes, rules }, { signal }).catch(refuseThread)
        : parseJsonText(bytes, rules),
    specBody: (bytes, signal) =>
      isHeavy(bytes)
        ? thread.run('specBody', bytes, { signal }).catch(refuseThread)
        : readSpecBody(bytes),
    specText: (text, signal) => thread.run('specText', text, { signal }).catch(refuseThread),
    delivery: (bytes, fields, signal) =>
      isHeavy(bytes)
        ? thread.run('delivery', { bytes, fields }, { signal, isFirst: true }).catch(refuseThread)
        : readDelivery(bytes, fields),
    form: (bytes, signal) =>
      bytes.length > INLINE_FORM_BYTES_MAX
        ? thread
            .run('form', bytes, { transfer: transferablesOf(bytes), signal })
            .catch(refuseThread)
        : parseFormText(bytes),
  };
}

/** The functions of the thread. One that reads no YAML goes without its parser. */
export const bodyFunctions = {
  parse: ({ bytes, rules }: { bytes: Uint8Array; rules: JsonRules }): unknown =>
    parseJsonText(bytes, rules),
  specBody: (bytes: Uint8Array): SpecBody => readSpecBody(bytes),
  specText: async (text: string): Promise<string> =>
    (await import('#catalog/spec/spec-text.ts')).readSpecText(text),
  delivery: ({ bytes, fields }: { bytes: Uint8Array; fields: DeliveryFields }): DeliveredEvent[] =>
    readDelivery(bytes, fields),
  form: parseFormText,
};

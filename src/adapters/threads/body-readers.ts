import { readSpecBody } from '#catalog/spec/spec-body.ts';
import type { ReadSpecBody } from '#catalog/spec/spec-body.ts';
import { readSpecText } from '#catalog/spec/spec-text.ts';
import type { ReadSpecText } from '#catalog/spec/spec-text.ts';
import { readDelivery } from '#partners/intake/read-delivery.ts';
import type { ReadDelivery } from '#partners/intake/read-delivery.ts';
import type { Clock } from '#shared/clock.ts';
import { transferablesOf } from '#shared/transferable.ts';
import { parseFormText } from '#shared/text/form-text.ts';
import type { FormPairs } from '#shared/text/form-text.ts';
import { parseJsonText } from '#shared/text/json.ts';
import type { JsonRules } from '#shared/text/json.ts';
import type * as functions from './body-functions.ts';
import { isHeavy, refuseThread } from './heavy-body.ts';
import { createThread } from './thread.ts';

/**
 * Reads of bodies that hold up nobody, whatever stands in it: what could take more than a few
 * milliseconds is parsed in a thread, and only what is needed of it comes back.
 */
export type BodyReaders = {
  /** As `parseJsonText`, which it is for most texts. */
  parse: (bytes: Buffer, rules: JsonRules) => unknown;
  specBody: ReadSpecBody;
  specText: ReadSpecText;
  delivery: ReadDelivery;
  /** As `parseFormText`. A large form's bytes are transferred, and gone afterwards. */
  form: (bytes: Buffer) => FormPairs | Promise<FormPairs>;
};

/** YAML costs many times what JSON does. */
const INLINE_YAML_CHARACTERS_MAX = 16 * 1024;
/** All forms but those that hold a spec. */
const INLINE_FORM_BYTES_MAX = 64 * 1024;

/** All throw `overloaded` when the thread is. */
export function createBodyReaders({ clock }: { clock: Pick<Clock, 'sleep'> }): BodyReaders {
  const module = new URL('body-functions.ts', import.meta.url);
  const thread = createThread<typeof functions>({ module, clock });
  return {
    parse: (bytes, rules) =>
      isHeavy(bytes)
        ? thread.run('parse', { bytes, rules }).catch(refuseThread)
        : parseJsonText(bytes, rules),
    specBody: (bytes) =>
      isHeavy(bytes) ? thread.run('specBody', bytes).catch(refuseThread) : readSpecBody(bytes),
    specText: async (text) =>
      text.length > INLINE_YAML_CHARACTERS_MAX
        ? thread.run('specText', text).catch(refuseThread)
        : readSpecText(text),
    delivery: (bytes, fields) =>
      isHeavy(bytes)
        ? thread.run('delivery', { bytes, fields }).catch(refuseThread)
        : readDelivery(bytes, fields),
    form: (bytes) =>
      bytes.length > INLINE_FORM_BYTES_MAX
        ? thread.run('form', bytes, transferablesOf(bytes)).catch(refuseThread)
        : parseFormText(bytes),
  };
}

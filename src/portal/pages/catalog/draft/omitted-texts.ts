/**
 * Texts that a form is too short for: a page has a limit, a spec may have 5 MiB. The form names where
 * such a text is, and an empty field leaves it so. Of a version it is in the catalog; what was typed is
 * held in the session, so that a mistake in another field costs nobody their work.
 */
import { refuse } from '#shared/errors.ts';
import type { Sessions } from '#access/sessions/sessions.ts';
import type { TypedFields } from '../../../page.ts';
import { LONG_FIELDS, type LongField, problem } from './draft-form.ts';

/** `source`: `version <id> <version>`, or `held <id>`. */
export type OmittedText = { source: string; bytes: number };
export type OmittedTexts = Readonly<Partial<Record<LongField, OmittedText>>>;
/** A form's fields, and what is left out of them. */
export type FormTexts = { fields: TypedFields; omitted: OmittedTexts };

/** What the text of a field may have on its page. */
const SHOWN_CHARACTERS_MAX = 16 * 1024;
/** Many times what a line may have: the rest of a longer one is no use to anybody. */
const LINE_CHARACTERS_SHOWN = 500;

const isLong = (name: string): name is LongField =>
  (LONG_FIELDS as readonly string[]).includes(name);

/** The name of the hidden field that says where the text of a field is. */
export const omittedName = (name: LongField): string => `omitted.${name}`;
/** The name of the box that takes such a text away. */
export const withoutName = (name: LongField): string => `without.${name}`;

/** The fields as a form shows them; of those too long for its page `sourceOf` says where they stay. */
export async function fitFields(
  { fields, omitted }: FormTexts,
  sourceOf: (text: string) => Promise<string>,
): Promise<FormTexts> {
  const shown: Record<string, string> = {};
  const left: Partial<Record<LongField, OmittedText>> = { ...omitted };
  for (const [name, value] of Object.entries(fields)) {
    const text = String(value);
    const isOmitted = isLong(name) && text.length > SHOWN_CHARACTERS_MAX;
    if (isOmitted) left[name] = { source: await sourceOf(text), bytes: Buffer.byteLength(text) };
    shown[name] = isOmitted ? '' : text.slice(0, isLong(name) ? undefined : LINE_CHARACTERS_SHOWN);
  }
  return { fields: shown, omitted: left };
}

/** Where the texts of a version are. */
export function versionSource({ id, version }: { id: string; version: string }): string {
  return `version ${id} ${version}`;
}

/** What a form says of texts that it left out; those that were typed anew count by themselves. */
export function omittedIn(typed: Readonly<Record<string, unknown>>): OmittedTexts {
  const entries = LONG_FIELDS.flatMap((name) => {
    const [, bytes, source] = /^(\d{1,9}) (.+)$/.exec(textOf(typed[omittedName(name)])) ?? [];
    const isBlank = textOf(typed[name]).trim() === '';
    return source !== undefined && isBlank ? [[name, { source, bytes: Number(bytes) }]] : [];
  });
  return Object.fromEntries(entries) as OmittedTexts;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

type Held = { sessions: Pick<Sessions, 'hold' | 'held'>; session: { digest: Buffer } };

/** Holds a text that was typed. Returns its source. */
export async function holdText({ sessions, session }: Held, text: string): Promise<string> {
  return `held ${await sessions.hold(session, text)}`;
}

/**
 * The fields with the texts that were held, as if they had been typed again.
 * @throws {validation-failed} at a field whose text is not held any more
 */
export async function withHeldTexts<Form extends Partial<Record<LongField, string>>>(
  { sessions, session }: Held,
  form: Form,
  omitted: OmittedTexts,
): Promise<Form> {
  const texts: Partial<Record<LongField, string>> = {};
  for (const name of LONG_FIELDS) {
    const [kind, id = ''] = omitted[name]?.source.split(' ') ?? [];
    if (kind !== 'held') continue;
    const text = await sessions.held(session, id);
    if (typeof text !== 'string')
      refuse([problem(name, 'gone', 'What you gave here is not held any more. Give it again.')]);
    texts[name] = text;
  }
  return { ...form, ...texts };
}

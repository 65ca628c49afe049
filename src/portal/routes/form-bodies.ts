/** Forms as browsers send them, and the tokens by which they are known to be ours. */
import type { KeyObject } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Session } from '#access/sessions/sessions.ts';
import { type HttpApp, hangUpOf, type ReadBody } from '#http/context.ts';
import { takeBodies } from '#http/requests/body.ts';
import { hmacSha256, sameDigest } from '#shared/crypto/hash.ts';
import type { FormPairs } from '#shared/text/form-text.ts';
import type { TypedFields } from '../page.ts';
import { FORM_ID_FIELD, FORM_TOKEN_FIELD } from '../shell/forms.ts';

/** Bytes of a form, where its action does not say otherwise: some texts and a list of labels. */
export const FORM_BYTES_MAX = 64 * 1024;

/** `parseFormText`, wherever it runs. The bytes may be gone afterwards. */
export type ParseForm = (bytes: Buffer, signal?: AbortSignal) => FormPairs | Promise<FormPairs>;

class FormBody {
  readonly pairs: FormPairs;

  constructor(pairs: FormPairs) {
    this.pairs = pairs;
  }
}

type Readers = { readBody: ReadBody; parseForm: ParseForm };

/** In this scope bodies are forms as browsers send them, within the limits of every body. */
export function acceptForms(app: HttpApp, { readBody: read, parseForm }: Readers): void {
  const types = ['application/x-www-form-urlencoded'];
  takeBodies(
    app,
    { types, read },
    async (request, bytes) => new FormBody(await parseForm(bytes, hangUpOf(request))),
  );
}

function pairsOf({ body }: Pick<FastifyRequest, 'body'>): FormPairs {
  return body instanceof FormBody ? body.pairs : [];
}

/** The fields of a request's form, without its token and its id. */
export function fieldsOf(request: Pick<FastifyRequest, 'body'>): TypedFields {
  const fields = new Map<string, string | string[]>();
  for (const [name, value] of pairsOf(request)) {
    const known = fields.get(name);
    fields.set(name, known === undefined ? value : [known, value].flat());
  }
  fields.delete(FORM_TOKEN_FIELD);
  fields.delete(FORM_ID_FIELD);
  return Object.fromEntries(fields);
}

/** The token of a form; undefined unless it names one. */
export function formTokenOf(request: Pick<FastifyRequest, 'body'>): string | undefined {
  return onlyValue(request, FORM_TOKEN_FIELD);
}

/** The id of a form; undefined unless it names one. */
export function formIdOf(request: Pick<FastifyRequest, 'body'>): string | undefined {
  return onlyValue(request, FORM_ID_FIELD);
}

function onlyValue(request: Pick<FastifyRequest, 'body'>, field: string): string | undefined {
  const given = pairsOf(request).filter(([name]) => name === field);
  return given.length === 1 ? given[0]?.[1] : undefined;
}

/** The session and the person that a token stands for. */
type Owner = Pick<Session, 'digest' | 'principal'>;

/**
 * Tokens by which a form is known to come from a page of the same session. Each follows from session
 * and person alone, so that any instance knows it and two tabs have the same one.
 */
export type FormTokens = {
  of(owner: Owner): string;
  /** Tells nothing by its time. */
  fits(owner: Owner, given: unknown): boolean;
  /** True when it was given to the same person, whatever the session. */
  isOfPerson(owner: Owner, given: unknown): boolean;
};

/** `key`: 32 bytes that are used for this alone. */
export function createFormTokens(key: KeyObject): FormTokens {
  const sessionPart = ({ digest }: Owner): Buffer => hmacSha256(key, digest);
  const personPart = ({ principal: { subject, workspaceId } }: Owner): Buffer =>
    hmacSha256(key, Buffer.from(JSON.stringify([subject, workspaceId])));
  const hasPart = (at: number, wanted: Buffer, given: unknown): boolean =>
    typeof given === 'string' &&
    sameDigest(Buffer.from(given.split('.')[at] ?? '', 'base64url'), wanted);
  return {
    of: (owner) =>
      [sessionPart(owner), personPart(owner)].map((part) => part.toString('base64url')).join('.'),
    fits: (owner, given) => hasPart(0, sessionPart(owner), given),
    isOfPerson: (owner, given) => hasPart(1, personPart(owner), given),
  };
}

import type { FastifyRequest } from 'fastify';

import type { HttpApp } from '#http/http-app.ts';
import { takeBodies } from '#http/requests/json-body.ts';
import type { ReadBody } from '#http/requests/read-body.ts';
import { TrackportError } from '#shared/errors.ts';

import type { TypedFields } from '../page.ts';
import { FORM_TOKEN_FIELD } from './form-token.ts';

/** Bytes of a form, where its action does not say otherwise: some texts and a list of labels. */
export const FORM_BYTES_MAX = 64 * 1024;
/** Names and values; a form of ours has a few dozen at most. */
const FIELDS_MAX = 1000;

/** In this scope bodies are forms as browsers send them, within the limits of every body. */
export function acceptForms(app: HttpApp, read: ReadBody): void {
  const types = ['application/x-www-form-urlencoded'];
  takeBodies(app, { types, read }, (_request, bytes) => new URLSearchParams(bytes.toString()));
}

/** The fields of a request's form, without its token. @throws {validation-failed} too many */
export function fieldsOf({ body }: Pick<FastifyRequest, 'body'>): TypedFields {
  if (!(body instanceof URLSearchParams)) return {};
  if (body.size > FIELDS_MAX)
    throw new TrackportError('validation-failed', { detail: 'The form has too many fields.' });
  const fields = new Map<string, string | string[]>();
  for (const [name, value] of body) {
    const known = fields.get(name);
    fields.set(name, known === undefined ? value : [known, value].flat());
  }
  fields.delete(FORM_TOKEN_FIELD);
  return Object.fromEntries(fields);
}

/** What the form says its token is; undefined unless it says so once. */
export function formTokenOf({ body }: Pick<FastifyRequest, 'body'>): string | undefined {
  const given = body instanceof URLSearchParams ? body.getAll(FORM_TOKEN_FIELD) : [];
  return given.length === 1 ? given[0] : undefined;
}

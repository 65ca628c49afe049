import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { DeclaredResponse, OpenDocument } from './openapi.ts';

/** A response with the operation that gave it: `path` is the template. */
type GivenResponse = {
  method: string;
  path: string;
  status: number;
  headers: Headers;
  text: string;
};

/** Headers that belong to HTTP or to every response, and that no operation names. */
const GENERAL_HEADERS = new Set([
  'connection',
  'content-length',
  'content-security-policy',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
  'x-content-type-options',
]);

/** Looks for what a response has and openapi.json does not declare, and for what is declared in vain. */
export function createResponseCheck(document: OpenDocument): (answer: GivenResponse) => string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  const problem = { ...document.components.schemas['Problem'], additionalProperties: false };
  const schemas = { ...document.components.schemas, Problem: problem };
  ajv.addSchema({ ...document, components: { ...document.components, schemas } }, 'openapi');

  const validators = new Map<string, ValidateFunction>();
  function validatorAt($ref: string): ValidateFunction {
    const known = validators.get($ref) ?? ajv.compile({ $ref });
    validators.set($ref, known);
    return known;
  }

  function checkBody(answer: GivenResponse, declared: DeclaredResponse): string[] {
    const mediaType = answer.headers.get('content-type')?.split(';', 1)[0] ?? '';
    if (!declared.content) return answer.text === '' ? [] : ['a body'];
    if (!declared.content[mediaType]) return [`the media type ${mediaType}`];
    const steps = ['paths', answer.path, answer.method.toLowerCase(), 'responses'];
    const place = [...steps, String(answer.status), 'content', mediaType, 'schema'];
    if (!mediaType.endsWith('json')) return [];
    const validate = validatorAt(`openapi#/${place.map(toPointerStep).join('/')}`);
    const body: unknown = JSON.parse(answer.text);
    if (!validate(body)) return [ajv.errorsText(validate.errors)];
    return mediaType === 'application/problem+json' ? checkCode(body, declared) : [];
  }

  return (answer) => {
    const name = `${answer.method} ${answer.path} ${answer.status}`;
    const operation = document.paths[answer.path]?.[answer.method.toLowerCase()];
    const declared = operation?.responses[answer.status];
    if (!declared) return [`${name}: the status`];
    const complaints = [...checkHeaders(answer, declared), ...checkBody(answer, declared)];
    return complaints.map((complaint) => `${name}: ${complaint}`);
  };
}

function checkHeaders({ headers }: GivenResponse, declared: DeclaredResponse): string[] {
  const names = new Set(Object.keys(declared.headers ?? {}).map((name) => name.toLowerCase()));
  return [...headers.keys()]
    .filter((name) => !GENERAL_HEADERS.has(name) && !names.has(name))
    .map((name) => `the header ${name}`);
}

function checkCode(body: unknown, { description }: DeclaredResponse): string[] {
  const { code } = body as { code: string };
  return description.includes(`\`${code}\`:`) ? [] : [`the code ${code}`];
}

function toPointerStep(text: string): string {
  return encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'));
}

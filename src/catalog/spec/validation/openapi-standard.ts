import type { SchemaCheck, SchemaError } from './schema-errors.ts';
import type { SpecStandard } from './spec-standard.ts';

/** Swagger 2.0, OpenAPI 3.0, 3.1 and 3.2. */
export const openApi: SpecStandard = {
  versionOf: ({ openapi, swagger }) => {
    if (swagger !== undefined) return swagger === '2.0' ? swagger : undefined;
    const known = /^(3\.[012])(?:\.\d+)?(?:-[0-9A-Za-z.-]+)?$/;
    return typeof openapi === 'string' ? known.exec(openapi)?.[1] : undefined;
  },
  versionKey: (document) => (Object.hasOwn(document, 'swagger') ? 'swagger' : 'openapi'),
  known: 'Known are `swagger: "2.0"` and `openapi` 3.0, 3.1 and 3.2, each written as a string.',
  loadCheck: async (version) => {
    const check = (await (loading ??= loadSchemas())).getAjvValidator(version);
    return (document) => {
      check(document);
      return tellingOf(check.errors ?? []);
    };
  },
};

/**
 * The part of the library's validator that is used. Its `validate` also clones the document to
 * resolve references, which takes ten times as long and mistakes properties named `$ref` for some.
 */
type Schemas = {
  getAjvValidator(version: string): {
    (document: unknown): unknown;
    errors?: SchemaError[] | null;
  };
};

/** Compiled schemas are the same for everybody. */
let loading: Promise<Schemas> | undefined;

async function loadSchemas(): Promise<Schemas> {
  const { Validator } = await import('@seriousme/openapi-schema-validator');
  return new Validator({ allErrors: true }) as unknown as Schemas;
}

const tellingOf = (errors: readonly SchemaError[]): ReturnType<SchemaCheck> => {
  const telling = errors.filter(isTelling);
  return telling.length > 0 ? telling : errors;
};

/**
 * `oneOf`, `anyOf` and `if` only say that something below them failed, and nearly everything could
 * have been a reference instead.
 */
function isTelling({ keyword, params }: SchemaError): boolean {
  if (keyword === 'required')
    return (params as { missingProperty?: string }).missingProperty !== '$ref';
  return !['oneOf', 'anyOf', 'if'].includes(keyword);
}

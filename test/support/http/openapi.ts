import { readFileSync } from 'node:fs';

export type JsonObject = Record<string, unknown>;

export type DeclaredResponse = {
  description: string;
  headers?: Record<string, object>;
  content?: Record<string, { schema?: object; examples?: Record<string, { $ref: string }> }>;
};

type DeclaredParameter = {
  in: 'path' | 'query' | 'header';
  name: string;
  required?: boolean;
  description?: string;
  schema: JsonObject;
};

type DeclaredOperation = {
  operationId: string;
  security: Record<string, string[]>[];
  parameters?: DeclaredParameter[];
  requestBody?: { required?: boolean; content: Record<string, { schema: JsonObject }> };
  responses: Record<string, DeclaredResponse>;
};

/** An OpenAPI document whose parameters and responses stand in their places. */
export type OpenDocument = {
  paths: Record<string, Record<string, DeclaredOperation>>;
  components: {
    schemas: Record<string, JsonObject>;
    examples: Record<string, { value: JsonObject }>;
  };
};

/** The checked-in document as text and as it reads with its references to parameters and responses followed. */
export function readOpenApi(): { text: string; document: OpenDocument } {
  const text = readFileSync('openapi.json', 'utf8');
  return { text, document: openDocument(JSON.parse(text)) };
}

/** Follows the references to parameters and responses; those to schemas and headers stay. */
export function openDocument(document: unknown): OpenDocument {
  const { paths, components } = document as {
    paths: Record<string, Record<string, DeclaredOperation>>;
    components: OpenDocument['components'] & Record<string, Record<string, unknown>>;
  };
  const open = <T>(part: T): T => {
    const reference = (part as { $ref?: string }).$ref;
    if (reference === undefined) return part;
    const [, , kind = '', name = ''] = reference.split('/');
    const found = components[kind]?.[name];
    if (found === undefined) throw new Error(`nothing is at ${reference}`);
    return found as T;
  };
  const openOperation = (operation: DeclaredOperation): DeclaredOperation => ({
    ...operation,
    ...(operation.parameters && { parameters: operation.parameters.map(open) }),
    responses: mapValues(operation.responses, open),
  });
  return {
    ...(document as OpenDocument),
    paths: mapValues(paths, (item) => mapValues(item, openOperation)),
  };
}

function mapValues<T, U>(values: Record<string, T>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
}

/** Every operation of a document with its method (lower-case) and path template. */
export function operationsOf(document: OpenDocument) {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
}

import { type Finding, fragmentOf } from '../finding.ts';

const DETAIL_CHARACTERS_MAX = 300;

/** A validator's error at one place of a document. */
export type SchemaError = {
  instancePath: string;
  keyword: string;
  params: object;
  message?: string;
};

/** Says all that a published schema finds wrong with a document; an error may come twice. */
export type SchemaCheck = (document: unknown) => readonly SchemaError[];

/** Each error once. */
export function findingsOfErrors(errors: readonly SchemaError[]): Finding[] {
  const findings = new Map<string, Finding>();
  for (const error of errors) {
    const finding = findingOfError(error);
    findings.set(`${finding.pointer} ${finding.detail}`, finding);
  }
  return [...findings.values()];
}

function findingOfError({ instancePath, keyword, params, message }: SchemaError): Finding {
  const { allowedValue, additionalProperty, unevaluatedProperty, ...more } = params as {
    allowedValue?: unknown;
    allowedValues?: unknown[];
    additionalProperty?: string;
    unevaluatedProperty?: string;
  };
  const { allowedValues = allowedValue === undefined ? undefined : [allowedValue] } = more;
  const named = additionalProperty ?? unevaluatedProperty;
  const facts = [
    named === undefined ? '' : `: "${named}"`,
    allowedValues === undefined ? '' : `: ${allowedValues.join(', ')}`,
  ];
  return {
    pointer: fragmentOf(`/spec${instancePath}`),
    code: keyword,
    detail: shorten(`${message ?? 'is not valid'}${facts.join('')}`),
  };
}

/** A local reference that leads nowhere, as a finding. */
export function findingOfReference(broken: { pointer: string; target: string }): Finding {
  return {
    pointer: fragmentOf(`/spec${broken.pointer}/$ref`),
    code: 'unresolved-reference',
    detail: shorten(`leads nowhere: ${broken.target}`),
  };
}

function shorten(detail: string): string {
  return detail.slice(0, DETAIL_CHARACTERS_MAX);
}

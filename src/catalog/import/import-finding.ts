import {
  type FieldProblem,
  isTrackportError,
  systemCodeOf,
  type TrackportError,
} from '#shared/errors.ts';
import { errorFields } from '#shared/log.ts';
import type { FileFinding, LocatePointer } from './file-places.ts';

/** Something to be said about a place of a file. An error keeps the file from what was to be done. */
export type ImportFinding = {
  severity: 'error' | 'warning';
  /** From 1, as editors count; absent where no place is known. */
  line?: number;
  column?: number;
  /** A JSON Pointer into the version, as a URI fragment. */
  pointer?: string;
  code: string;
  detail: string;
};

type Said = { pointer?: string; code: string; detail: string };

/** Findings with the places in the file that they are about. */
export function placeFindings(
  findings: readonly Said[],
  severity: ImportFinding['severity'],
  locate: LocatePointer,
): ImportFinding[] {
  return findings.map(({ pointer, code, detail }) => ({
    severity,
    ...(pointer !== undefined && { pointer, ...locate(pointer) }),
    code,
    detail,
  }));
}

/** Reason for a file's failure, in one sentence or more, with findings about its places. */
type FileFailure = { detail: string; findings: ImportFinding[] };

/** The failure that an error stands for. `faults`: what is wrong with the text of the file itself. */
export function toFailure(
  error: unknown,
  { locate, faults }: { locate: LocatePointer; faults: () => readonly FileFinding[] },
): FileFailure {
  if (!isTrackportError(error)) return toUnexpected(error);
  const detail = error.detail ?? error.code;
  const found = error.code === 'malformed-json' ? faults() : [];
  if (found.length > 0)
    return {
      detail,
      findings: found.map((fault) => ({ severity: 'error', code: error.code, ...fault })),
    };
  return { detail, findings: placeFindings(problemsOf(error), 'error', locate) };
}

/** The file system's own errors have a code; everything else is a mistake of ours, which one file met. */
function toUnexpected(error: unknown): FileFailure {
  const systemCode = systemCodeOf(error);
  const [code, detail] =
    systemCode === undefined
      ? ['internal-error', `Unexpected failure: ${String(errorFields(error)['error'])}.`]
      : ['unreadable', `The file cannot be read: ${systemCode}.`];
  return { detail, findings: [{ severity: 'error', code, detail }] };
}

function problemsOf({ errors = [], code, detail = code }: TrackportError): Said[] {
  return errors.length === 0 ? [{ code, detail }] : errors.map(withoutHeader);
}

/** Parameters and headers are parts of a request, not of the file. */
function withoutHeader({ pointer, code, detail }: FieldProblem): Said {
  return { pointer, code, detail };
}

import { isRecord } from '#shared/text/json.ts';

/** Whether callers send what is described there, or get it. */
export type Direction = 'request' | 'response';

/** Shared definitions by their pointer, such as `components/schemas/Lead`, and where they are used. */
export type Usage = ReadonlyMap<string, ReadonlySet<Direction>>;

const TURNS: Readonly<Record<string, Direction | 'unknown'>> = {
  parameters: 'request',
  requestBody: 'request',
  responses: 'response',
  callbacks: 'unknown',
};

type Step = [value: unknown, direction: Direction | undefined];

/** Follows every reference from the operations of a document, into each place once for each direction. */
export function usageOf(document: Record<string, unknown>): Usage {
  const usage = new Map<string, Set<Direction>>();
  const walked = { request: new Set<object>(), response: new Set<object>() };
  const open: Step[] = [[document['paths'], undefined]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [value, direction] = next;
    if (typeof value !== 'object' || value === null) continue;
    // One place can be referred to by itself and by all that it stands in.
    if (direction && isWalked(walked[direction], value)) continue;
    const target = isRecord(value) ? value['$ref'] : undefined;
    if (typeof target === 'string' && direction && isNew(usage, target, direction))
      open.push([resolve(document, target), direction]);
    for (const step of stepsInto(value, direction)) open.push(step);
  }
  return usage;
}

function* stepsInto(value: object, direction: Direction | undefined): Generator<Step> {
  for (const [name, member] of Object.entries(value)) {
    const turn = direction === undefined && Object.hasOwn(TURNS, name) ? TURNS[name] : direction;
    if (turn !== 'unknown') yield [member, turn];
  }
}

function isWalked(walked: Set<object>, place: object): boolean {
  if (walked.has(place)) return true;
  walked.add(place);
  return false;
}

function isNew(usage: Map<string, Set<Direction>>, target: string, direction: Direction): boolean {
  const name = target.replace(/^#\//, '');
  const known = usage.get(name) ?? new Set();
  if (known.has(direction)) return false;
  usage.set(name, known.add(direction));
  return true;
}

function resolve(document: Record<string, unknown>, target: string): unknown {
  if (!target.startsWith('#/')) return undefined;
  const parts = target.slice('#/'.length).split('/');
  return parts.reduce<unknown>((value, part) => {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }, document);
}

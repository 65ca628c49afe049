import type { Call } from '../world/tracker.ts';
import type { World } from '../world/world.ts';

const OF_RECEIPT = /Qualified by [\w-]+: ([\w-]+)/;
const ISSUE = /^\/repos\/acme\/leads\/issues\/(\d+)(?:\/|$)/;

/**
 * A rule writes nothing for a receipt that has ended. It changes no lead that a deletion had claimed before the instance
 * looked at it last: it looks whether it may before it reads what it writes.
 */
export function createCallCheck({ model, violate }: World): (call: Call) => void {
  const lookedAt = new Map<string, number>();
  return ({ by, request, status, sentAtStep }) => {
    const number = Number(ISSUE.exec(request.path)?.[1]);
    if (Number.isNaN(number)) return;
    const key = `${by.name} ${number}`;
    if (request.method === 'GET') lookedAt.set(key, sentAtStep);
    else if (status < 300 && isOfRule(request.body.toString())) {
      const [, receiptId = ''] = OF_RECEIPT.exec(request.body.toString()) ?? [];
      if ((model.ended.get(receiptId) ?? Infinity) < sentAtStep)
        violate(`${by.name} commented on lead ${number} for receipt ${receiptId}, which has ended`);
      const looked = lookedAt.get(key) ?? 0;
      const claims = model.leads.get(number)?.claims ?? [];
      if (claims.some(({ from, until = Infinity }) => from < looked && until > sentAtStep))
        violate(`${by.name} wrote for an event on lead ${number}, which was claimed`);
    }
  };
}

function isOfRule(body: string): boolean {
  if (body.includes('Qualified by')) return true;
  return /"labels":\[[^\]]*"(?:qualified|won)"/.test(body) && !body.includes('"deleted"');
}

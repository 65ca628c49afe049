/**
 * Everything that the sandbox tracker can do to a caller, all together for 30 % of the calls. What
 * locks everybody out comes seldom, since it pauses the worker until the next probe or restart. An
 * issue that is falsely reported missing for good is left out: that is a lie that no client can see
 * through.
 */
const often = [
  { kind: 'status', status: 500 },
  { kind: 'status', status: 502, text: '<html><title>Bad gateway</title></html>' },
  { kind: 'status', status: 503, when: 'after' },
  { kind: 'truncated' },
  { kind: 'empty' },
  { kind: 'reset' },
  { kind: 'reset', when: 'after' },
  { kind: 'hang' },
  { kind: 'hang', when: 'after' },
  { kind: 'slow', ms: 150 },
  { kind: 'drop-labels', method: 'PATCH' }, // elsewhere it takes away the right to delete
];

const seldom = [
  { kind: 'secondary-limit', retryAfterSeconds: 1 },
  { kind: 'secondary-limit', status: 429, retryAfterSeconds: 1 },
  { kind: 'primary-limit', resetAfterSeconds: 1 },
  { kind: 'status', status: 422 },
  { kind: 'status', status: 404, path: 'issues/\\d+$' },
  { kind: 'redirect', location: 'http://127.0.0.1:9/repositories/1/issues/1' },
  { kind: 'bad-credentials' },
  { kind: 'status', status: 403 },
  { kind: 'repository-missing', path: '^/repos/[^/]+/[^/]+$' },
];

const SHARE = 0.36; // one after the other they hit 30 % of the calls
const SHARE_SELDOM = 0.006;

/** Faults for the tracker's `fault` control. */
export function everyFault(): object[] {
  const spread = (faults: object[], share: number): object[] =>
    faults.map((fault) => ({
      count: 1_000_000_000,
      probability: share / faults.length,
      ...fault,
    }));
  return [...spread(often, SHARE - SHARE_SELDOM), ...spread(seldom, SHARE_SELDOM)];
}

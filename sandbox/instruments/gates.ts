import type { TrackerRequest } from '../tracker/api/route.ts';

export type GateMatch = {
  method?: string;
  /** Regular expression that the path must match; default every path. */
  path?: string;
  /**
   * Where matching requests wait: `before` they have any effect, or `after` their answer is made,
   * so that it is old when it leaves. Default `after`.
   */
  when?: 'before' | 'after';
};

/** A gate holds back answers until it opens. */
export type Gate = {
  /** Resolves once this many requests (default 1) wait or have waited here. */
  arrived(count?: number): Promise<void>;
  /** Lets all go, and everything that comes later. */
  open(): void;
};

export type Gates = {
  hold(match?: GateMatch): Gate;
  pass(request: TrackerRequest, when: 'before' | 'after'): Promise<void>;
  openAll(): void;
};

type ClosedGate = Gate & { match: GateMatch; path: RegExp; enter(): Promise<void> };

export function createGates(): Gates {
  const closed = new Set<ClosedGate>();
  return {
    hold: (match = {}) => {
      const gate = createGate(match, () => closed.delete(gate));
      closed.add(gate);
      return gate;
    },
    pass: async (request, when) => {
      for (const gate of closed) if (isAt(gate, request, when)) await gate.enter();
    },
    openAll: () => {
      for (const gate of closed) gate.open();
    },
  };
}

function isAt(gate: ClosedGate, request: TrackerRequest, when: 'before' | 'after'): boolean {
  const { method, when: place = 'after' } = gate.match;
  return place === when && (!method || method === request.method) && gate.path.test(request.path);
}

function createGate(match: GateMatch, forget: () => void): ClosedGate {
  const { promise: opened, resolve } = Promise.withResolvers<void>();
  const watchers: { count: number; seen: () => void }[] = [];
  let entered = 0;
  return {
    match,
    path: new RegExp(match.path ?? ''),
    enter: () => {
      entered += 1;
      for (const { count, seen } of watchers) if (entered >= count) seen();
      return opened;
    },
    arrived: (count = 1) => {
      if (entered >= count) return Promise.resolve();
      const watcher = Promise.withResolvers<void>();
      watchers.push({ count, seen: watcher.resolve });
      return watcher.promise;
    },
    open: () => {
      forget();
      resolve();
    },
  };
}

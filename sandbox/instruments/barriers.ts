import type { TrackerRequest } from '../tracker/api/route.ts';

export type BarrierMatch = {
  method?: string;
  /** Regular expression that the path must match; default every path. */
  path?: string;
  /**
   * Point at which matching requests wait: `before` they have any effect, or `after` their response is made,
   * so that it is old when it leaves. Default `after`.
   */
  when?: 'before' | 'after';
};

/** A barrier holds back responses until it opens. */
export type Barrier = {
  /** Resolves once this many requests (default 1) wait or have waited here. */
  arrived(count?: number): Promise<void>;
  /** Lets all go, and everything that comes later. */
  open(): void;
};

export type Barriers = {
  hold(match?: BarrierMatch): Barrier;
  pass(request: TrackerRequest, when: 'before' | 'after'): Promise<void>;
  openAll(): void;
};

type ClosedBarrier = Barrier & { match: BarrierMatch; path: RegExp; enter(): Promise<void> };

export function createBarriers(): Barriers {
  const closed = new Set<ClosedBarrier>();
  return {
    hold: (match = {}) => {
      const barrier = createBarrier(match, () => closed.delete(barrier));
      closed.add(barrier);
      return barrier;
    },
    pass: async (request, when) => {
      for (const barrier of closed) if (isAt(barrier, request, when)) await barrier.enter();
    },
    openAll: () => {
      for (const barrier of closed) barrier.open();
    },
  };
}

function isAt(barrier: ClosedBarrier, request: TrackerRequest, when: 'before' | 'after'): boolean {
  const { method, when: place = 'after' } = barrier.match;
  return (
    place === when && (!method || method === request.method) && barrier.path.test(request.path)
  );
}

function createBarrier(match: BarrierMatch, forget: () => void): ClosedBarrier {
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

/** Questions that are under way to another process, by their numbers. */
export type Requests<Response> = {
  /** Sends a question with a number of its own; resolves with the response to it. */
  ask(send: (id: number) => void): Promise<Response>;
  /** Hands over a response. One that nobody waits for is dropped. */
  settle(id: number, response: Response): void;
};

/** @see Requests */
export function createRequests<Response>(): Requests<Response> {
  const waiting = new Map<number, (response: Response) => void>();
  let lastId = 0;
  return {
    ask: (send) =>
      new Promise((resolve) => {
        lastId += 1;
        waiting.set(lastId, resolve);
        send(lastId);
      }),
    settle: (id, response) => {
      waiting.get(id)?.(response);
      waiting.delete(id);
    },
  };
}

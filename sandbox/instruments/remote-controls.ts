/**
 * Calls one control of a tracker in another process; the caller says of what type its result is.
 * @throws Error when it is refused
 */
export async function callControl<T = unknown>(
  url: string,
  name: string,
  ...args: unknown[]
): Promise<T> {
  const value = await request(url, name, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(args),
  });
  return value as T;
}

/** Reads a list of a tracker in another process. @throws Error when it is refused */
export async function readControl<T = unknown>(
  url: string,
  name: 'calls' | 'deliveries' | 'issues',
): Promise<T[]> {
  return (await request(url, name)) as T[];
}

async function request(url: string, name: string, init?: RequestInit): Promise<unknown> {
  const response = await fetch(`${url}/_control/${name}`, init);
  if (!response.ok) throw new Error(`control ${name}: ${response.status} ${await response.text()}`);
  return response.json();
}

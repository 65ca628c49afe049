/** Calls one control of a tracker in another process. @throws Error when it is refused */
export async function callControl(url: string, name: string, ...args: unknown[]): Promise<unknown> {
  const response = await fetch(`${url}/_control/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(args),
  });
  if (!response.ok) throw new Error(`control ${name}: ${await response.text()}`);
  return response.json();
}

/** Reads a list of a tracker in another process. @throws Error when it is refused */
export async function readControl(
  url: string,
  name: 'calls' | 'deliveries' | 'issues',
): Promise<unknown> {
  const response = await fetch(`${url}/_control/${name}`);
  if (!response.ok) throw new Error(`control ${name}: ${await response.text()}`);
  return response.json();
}

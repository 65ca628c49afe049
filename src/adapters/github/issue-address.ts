/**
 * The address of an issue for people. Of GitHub it is known from that of the API: `api.github.com`,
 * `api.NAME.ghe.com`, `HOST/api/v3`; anything else is taken for one origin with both.
 */
export function issueAddressOf(apiUrl: string, repository: string): (number: string) => string {
  const { protocol, host } = new URL(apiUrl);
  const web = /^api\.(github\.com|[^.]+\.ghe\.com)$/i.exec(host)?.[1] ?? host;
  return (number) => `${protocol}//${web}/${repository}/issues/${encodeURIComponent(number)}`;
}

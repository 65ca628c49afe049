/**
 * What helmet would set, reduced to what matters for an API and computed once: the hot path pays
 * for every header. Pages bring a `Content-Security-Policy` of their own.
 * @see https://cheatsheetseries.owasp.org/cheatsheets/REST_Security_Cheat_Sheet.html
 */
export function securityHeaders(publicUrl: string): Readonly<Record<string, string>> {
  return Object.freeze({
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    ...(publicUrl.startsWith('https:') && {
      'strict-transport-security': 'max-age=31536000; includeSubDomains',
    }),
  });
}

/** What a page sends beside them; `policy` opens what it needs, from this service only. */
export function pageHeaders(policy = ''): Readonly<Record<string, string>> {
  return Object.freeze({
    'content-security-policy': `default-src 'none'; ${policy}base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
  });
}

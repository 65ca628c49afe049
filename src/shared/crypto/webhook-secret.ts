const SECRET = /^whsec_(?=.)((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;

/** The key in a secret of Standard Webhooks: `whsec_` and its base64. Undefined: it is none. */
export function webhookSecretBytes(secret: string): Buffer | undefined {
  const [, text] = SECRET.exec(secret) ?? [];
  return text === undefined ? undefined : Buffer.from(text, 'base64');
}

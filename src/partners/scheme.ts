/** How a partner signs its calls. */
export type Scheme = 'hmac-sha256' | 'signature-v3';

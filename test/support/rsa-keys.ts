import { generateKeyPairSync } from 'node:crypto';

/** Two keys of an App, as the tracker hands them out. */
export const rsaKeys = () =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });

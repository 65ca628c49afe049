/** Values of the configuration that must never be shown, and what comes with them by mistake. */
import { z } from 'zod';
import { Secret } from '#shared/crypto/secret.ts';

/** Quotation marks in pairs, as shells, YAML and word processors have them. */
const QUOTED = /^(?:"[^]*"|'[^]*'|`[^]*`|[“”„][^]*[“”]|[‘’‚][^]*[‘’]|[«»][^]*[«»])$/;
const INVISIBLE = /[\p{Cc}\p{Cf}]/u;

/** Something that came with a value on its way to here, and its remedy. It tells nothing of the value itself. */
type Stray = { what: string; remedy: string };

export function straysIn(text: string): Stray[] {
  const [sign] = INVISIBLE.exec(text) ?? [];
  return [
    ...(QUOTED.test(text.trim())
      ? [{ what: 'quotation marks around it', remedy: 'take the marks away where it is set' }]
      : []),
    ...(sign === undefined ? [] : [strayOf(sign)]),
  ];
}

function strayOf(sign: string): Stray {
  const remedy = 'save what sets it with plain line ends (LF)';
  if (sign === '\r') return { what: 'a carriage return in it', remedy };
  if (sign === '\n') return { what: 'a line break in it', remedy: 'give it in one line' };
  const code = sign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  return { what: `an invisible sign in it (U+${code})`, remedy: 'take the sign out' };
}

/** Refuses a secret in quotation marks or with control characters: every call that it is for would fail. */
export function refuseStray(text: string, context: z.RefinementCtx<string>): void {
  const strays = straysIn(text);
  if (strays.length === 0) return;
  const params = {
    stray: `with ${strays.map(({ what }) => what).join(' and ')}`,
    suggestion: strays.map(({ remedy }) => remedy).join('; '),
  };
  const message = 'the value alone, in one line';
  context.addIssue({ code: 'custom', message, params, continue: false });
}

function notBlank(allowed: string) {
  return z
    .string({ error: allowed })
    .min(1, { error: allowed })
    .refine((text) => text.trim() !== '', { error: allowed });
}

/** Text that must never be shown. It is not trimmed: every byte of a secret counts. */
export function secret(allowed = 'a secret that is not empty') {
  return notBlank(allowed)
    .superRefine(refuseStray)
    .transform((text) => new Secret(text))
    .meta({ writeOnly: true });
}

/** A key as PEM text, which has lines. Its reader says what is wrong with it. */
export function pemKey(allowed: string) {
  return notBlank(allowed)
    .transform((text) => new Secret(text))
    .meta({ writeOnly: true });
}

/** At least 32 bytes in base64. */
export function keyMaterial() {
  const error = 'at least 32 random bytes in base64, as `openssl rand -base64 32` prints them';
  return z
    .string({ error })
    .superRefine(refuseStray)
    .refine((text) => /^[A-Za-z0-9+/_-]+={0,2}$/.test(text.trim()), { error })
    .refine((text) => Buffer.from(text, 'base64').length >= 32, { error })
    .transform((text) => new Secret(text.trim()))
    .meta({ writeOnly: true });
}

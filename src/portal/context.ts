import type { SignIn } from '#access/sessions/sign-in.ts';
import type { Sessions } from '#access/sessions/sessions.ts';
import type { HttpContext } from '#http/http-app.ts';
import type { Sealer } from '#shared/crypto/sealer.ts';
import type { Idempotency } from '#shared/idempotency.ts';
import type { PortalCookies } from './routes/cookies.ts';
import type { FormTokens, ParseForm } from './routes/forms.ts';
import type { PortalRoutes } from './routes/route-types.ts';

/** What the portal gets of the service. */
export type PortalDeps = {
  /** `owner/name`, below the product's name. */
  repository: string;
  /** Dead letters that wait, beside Receipts; undefined while it is not known. */
  deadLetters?: () => number | undefined;
  sessions: Sessions;
  signIn: SignIn;
  /** Seals sign-ins under way. */
  sealer: Sealer;
  idempotency: Idempotency;
  /** Reads forms; large ones hold up nobody. */
  parseForm: ParseForm;
  /** 32 bytes for the tokens of forms. */
  formKey: Buffer;
  /** As the configuration names it. */
  issuer: string;
  audience: string;
  /** Every page and every action. */
  addPages: (portal: PortalRoutes) => void;
};

/** What all parts of the portal work with. */
export type PortalContext = HttpContext &
  PortalDeps & { cookies: PortalCookies; formTokens: FormTokens };

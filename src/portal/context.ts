import type { Access } from '#access/index.ts';
import type { SignIn } from '#access/sessions/sign-in.ts';
import type { Sessions } from '#access/sessions/sessions.ts';
import type { Catalog } from '#catalog/index.ts';
import type { ReadSpecText } from '#catalog/spec/spec-text.ts';
import type { HttpContext } from '#http/context.ts';
import type { Readiness } from '#http/routes/operations.ts';
import type { ClaimedLeads } from '#leads/claims/claimed-leads.ts';
import type { LeadFeed } from '#leads/lead-feed/lead-feed.ts';
import type { TrackerQuota } from '#leads/lead-tracker.ts';
import type { Partners } from '#partners/index.ts';
import type { Traffic } from '#partners/traffic.ts';
import type { Sealer } from '#shared/crypto/sealer.ts';
import type { Idempotency } from '#shared/idempotency.ts';
import type { PortalCookies } from './routes/cookies.ts';
import type { FormTokens, ParseForm } from './routes/form-bodies.ts';

/**
 * Everything that the portal works on: the server's tools (`HttpContext`), what signs people in, what its pages show and
 * change. `compose/portal.ts` makes the rest.
 */
export type PortalContext = HttpContext & {
  sessions: Sessions;
  signIn: SignIn;
  cookies: PortalCookies;
  /** Seals sign-ins under way. */
  sealer: Sealer;
  /** As the configuration names it. */
  issuer: string;
  audience: string;

  formTokens: FormTokens;
  /** Reads forms; large ones hold up nobody. */
  parseForm: ParseForm;
  idempotency: Idempotency;

  /** `owner/name`, below the product's name. */
  repository: string;
  /** Dead letters that wait, beside Receipts; undefined while it is not known. */
  deadLetters?: () => number | undefined;

  access: Access;
  partners: Partners;
  catalog: Catalog;
  leadFeed: Pick<LeadFeed, 'follower' | 'newestAt' | 'listeners'>;
  claimedLeads: ClaimedLeads;
  traffic: Pick<Traffic, 'read'>;
  tracker: ShownTracker;
  /** Checks of `/readyz`. */
  readiness: () => Promise<Pick<Readiness, 'checks'>>;
  /** This port serves `/readyz`. */
  hasReadyz: boolean;
  /** Calls per minute of a consumer without a limit of its own. */
  defaultLimit: () => number;
  /** Specs as people write them, JSON or YAML. */
  readSpecText: ReadSpecText;
  /** The client whose entries in the audit came through this portal. */
  portalClientId: string;
};

type ShownTracker = {
  quota: () => TrackerQuota | undefined;
  /** The last request that failed since this process started. */
  lastFailure: () => { cause: string; at: number } | undefined;
  hasWebhookSecret: () => boolean;
  /** Its labels; any failure means that nobody can know them now. */
  labels: () => Promise<readonly string[]>;
  /** Those by which leads are approved and deleted: every reader's leads have the one and never the other. */
  ownLabels: () => readonly string[];
  /** The address of an issue for people, where one can be made from what is configured. */
  issueAddress: (number: string) => string | undefined;
};

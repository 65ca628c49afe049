import type { SignIn } from '#access/sessions/sign-in.ts';
import type { Sessions } from '#access/sessions/sessions.ts';
import type { HttpContext } from '#http/context.ts';
import type { Sealer } from '#shared/crypto/sealer.ts';
import type { Idempotency } from '#shared/idempotency.ts';
import type { PortalCookies } from './routes/cookies.ts';
import type { FormTokens, ParseForm } from './routes/form-bodies.ts';
import type { Access } from '#access/index.ts';
import type { Catalog } from '#catalog/index.ts';
import type { ReadSpecText } from '#catalog/spec/spec-text.ts';
import type { Readiness } from '#http/readiness.ts';
import type { ClaimedLeads } from '#leads/claims/claimed-leads.ts';
import type { LeadFeed } from '#leads/lead-feed/lead-feed.ts';
import type { TrackerQuota } from '#leads/lead-tracker.ts';
import type { Partners } from '#partners/index.ts';
import type { Traffic } from '#partners/traffic.ts';

/** Everything that the service gives the portal. */
export type PortalService = {
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
};

/** Context of all parts of the portal. */
export type PortalContext = HttpContext &
  PortalService & { cookies: PortalCookies; formTokens: FormTokens };

/** Context of the pages. */
export type PagesContext = {
  access: Access;
  partners: Partners;
  catalog: Catalog;
  leadFeed: Pick<LeadFeed, 'follower' | 'newestAt' | 'listeners'>;
  claimedLeads: ClaimedLeads;
  traffic: Pick<Traffic, 'read'>;
  tracker: {
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
  /** Checks of `/readyz`, of all processes that serve together. */
  readiness: () => Promise<Pick<Readiness, 'checks'>>;
  /** This port serves `/readyz`. */
  hasReadyz: boolean;
  /** Calls per minute of a consumer without a limit of its own. */
  defaultLimit: () => number;
  /** Specs as people write them, JSON or YAML. */
  readSpecText: ReadSpecText;
  /** The client whose entries in the audit came through this portal. */
  portalClientId: string;
  publicUrl: () => string;
};

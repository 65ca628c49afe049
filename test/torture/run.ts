import { type Acknowledged, type PartnerId, SECRETS } from './people.ts';
import type { Child, RemoteTracker } from './service.ts';
import type { TortureStore } from './store.ts';

/** Events of the run, and all that should not have happened. */
export type TortureReport = {
  kills: number;
  /** Starts that failed since the store was away, and were tried again. */
  failedStarts: number;
  /** Of PostgreSQL: fast shutdowns, and crashes. */
  fastRestarts: number;
  crashRestarts: number;
  people: number;
  sent: number;
  acknowledged: number;
  repeats: number;
  /** Bodies of leads that salespeople changed meanwhile. */
  edits: number;
  /** Complete reads of all leads meanwhile, over all instances. */
  walks: number;
  /** Items of the lead feed that a tool took over. */
  changes: number;
  /** Events with a rule that were acknowledged, sent beside the deletions as fast as they are taken. */
  events: number;
  /** Leads that lost their approval before they were deleted. */
  unapproved: number;
  trackerCalls: number;
  trackerFailures: number;
  replayed: number;
  /** Events that met a worker whose file lacked their partner. */
  waitedForPartner: number;
  violations: string[];
};

/** One of the processes that serve the store. It keeps its port, whoever runs on it. */
export type Instance = {
  url: string;
  config: string;
  /** Missing in its file until half of the time is over: nobody sends it what that partner signs. */
  lacks?: PartnerId;
  /** Undefined while it is started. */
  child: Child | undefined;
};

/** One torture, from its start to the verdict. */
export type Run = {
  folder: string;
  /** Base of the addresses that partners sign: the address of the first instance stands for all of them. */
  publicUrl: string;
  instances: Instance[];
  store: TortureStore;
  tracker: RemoteTracker;
  /** Calls of partners and readers. */
  random: () => number;
  acknowledged: Acknowledged[];
  /** Status addresses by their receipts, as paths. */
  addresses: Map<string, string>;
  /** Receipts of batches of events. */
  flood: string[];
  report: TortureReport;
  output: string;
  /** Deletions and kills end. Their time is up, and what must happen has happened. */
  isOver: () => boolean;
};

/** Known, so that the verdict can look people up in the directory. */
export const SECRET_KEY = Buffer.alloc(32, 11);
export const WEBHOOK_SECRET = 'webhook-secret-of-the-torture';

/** One of the instances, by chance; with `partner` one whose file always had it. */
export function someInstance(
  { instances, random }: Pick<Run, 'instances' | 'random'>,
  partner?: PartnerId,
): Instance {
  const those = instances.filter(({ lacks }) => lacks === undefined || lacks !== partner);
  const instance = those[Math.floor(random() * those.length)];
  if (!instance) throw new Error('there is no instance');
  return instance;
}

/** Progress that is wanted before the havoc ends; a machine that is busy takes longer. */
export type Least = Partial<
  Record<
    'kills' | 'restarts' | 'walks' | 'changes' | 'unapproved' | 'acknowledged' | 'edits',
    number
  >
>;

/** Restarts of PostgreSQL, of either kind. */
export const restartsOf = ({ fastRestarts, crashRestarts }: TortureReport): number =>
  fastRestarts + crashRestarts;

/** True when each of these has happened so often. */
export function hasHappened(report: TortureReport, least: Least): boolean {
  const counts = { ...report, restarts: restartsOf(report) };
  return Object.entries(least).every(([name, count]) => counts[name as keyof Least] >= count);
}

/** A report before anything happened. */
export const emptyReport = (): TortureReport => ({
  kills: 0,
  failedStarts: 0,
  fastRestarts: 0,
  crashRestarts: 0,
  people: 0,
  sent: 0,
  acknowledged: 0,
  repeats: 0,
  edits: 0,
  walks: 0,
  changes: 0,
  events: 0,
  unapproved: 0,
  trackerCalls: 0,
  trackerFailures: 0,
  replayed: 0,
  waitedForPartner: 0,
  violations: [],
});

/** The configuration file of an instance; each has its port from the command line. */
export function configOf(
  { publicUrl, tracker, store }: Pick<Run, 'publicUrl' | 'tracker' | 'store'>,
  lacks?: PartnerId,
): string {
  const partner = (scheme: string, id: PartnerId, deletions: string, more = ''): string =>
    id === lacks
      ? ''
      : `  ${id}: { scheme: ${scheme}, secrets: ["${SECRETS[id]}"], deletions: { ${deletions} }${more} }`;
  return [
    `server: { publicUrl: "${publicUrl}", logLevel: debug }`,
    `store: { url: "${store.url}" }`,
    `secretKey: ${SECRET_KEY.toString('base64')}`,
    'tracker:',
    '  repository: acme/leads',
    `  apiUrl: ${tracker.url}`,
    `  auth: { token: ${tracker.token} }`,
    `  adminToken: ${tracker.token}`,
    `  webhookSecrets: [${WEBHOOK_SECRET}]`,
    '  writeInterval: 2ms',
    '  requestTimeout: 250ms',
    'leads: { portalAuthors: ["acme-portal[bot]"], freshFor: 200ms, feedInterval: 1s }',
    `deletions: { retry: [${Array.from({ length: 40 }, () => '100ms').join(', ')}] }`,
    'partners:',
    partner(
      'hmac-sha256',
      'crm-one',
      'actions: [relabel, close, comment]',
      ', events: [{ type: noted, addLabels: [noted] }, { type: forgotten, removeLabels: [noted] }]',
    ),
    partner(
      'signature-v3',
      'crm-two',
      'actions: [relabel, close, comment], privacy: [relabel, close, redact, comment]',
    ),
    partner('hmac-sha256', 'crm-three', 'actions: [delete, relabel, close]'),
    '',
  ].join('\n');
}

import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import type { CertificateClaims, CertificateVerdict } from '#partners/receipts/certificate.ts';
import { readBytes } from '#shared/bytes.ts';
import { systemCodeOf } from '#shared/errors.ts';
import { isRecord } from '#shared/text/json.ts';
import {
  type CommandContext,
  CommandFailure,
  type Open,
  printJson,
  type Terminal,
} from '../command.ts';
import { NONE, printable, renderFacts } from '../table.ts';

export type CertificateChecker = {
  /** Checks that the text is a certificate of one of the keys of a set. */
  check(text: string, keySet: unknown): Promise<CertificateVerdict>;
  /** The set at an address that the caller gave. @throws {Error} with what is wrong, in its words */
  fetchKeys: (url: string) => Promise<unknown>;
  /** Opens the store of the configuration, for the set of its own. */
  keys: Open<{ readKeys: () => Promise<unknown> }>;
};

type VerifyOptions = { jwks?: string; json?: boolean };
type Context = CommandContext<{ verify: CertificateChecker }>;

/** `receipt verify FILE`: with `--jwks` it needs no configuration, and opens no store. */
export function registerVerify(parent: Command, context: Context): void {
  const { actionOf, services } = context;
  const byOwnKeys = actionOf((config) => services.verify.keys(config))(async ({
    services: { readKeys },
    ...task
  }) => {
    const verdict = await services.verify.check(await readText(task.args[0]), await readKeys());
    report(task, verdict);
  });
  parent
    .command('verify <file>')
    .description('check an erasure certificate; offline, by the keys of the store or of --jwks')
    .option('--jwks <file>', 'a file or an address with the set of keys to check by')
    .action(async (...received: unknown[]) => {
      const command = received.at(-1) as Command;
      const { jwks, json } = command.optsWithGlobals<VerifyOptions>();
      if (jwks === undefined) return byOwnKeys(...received);
      const keys = await readKeySet(services.verify, jwks);
      const verdict = await services.verify.check(await readText(command.args[0]), keys);
      report({ terminal: context.terminal, isJson: json === true }, verdict);
    });
}

/** More than the certificate of a batch of 1 MiB has. */
const FILE_MIB_MAX = 8;

/** Without the byte order mark that some programs write. */
async function readText(file = ''): Promise<string> {
  const tooLarge = () => new CommandFailure(`${file} is larger than ${FILE_MIB_MAX} MiB.`);
  try {
    const bytes = await readBytes(createReadStream(file), FILE_MIB_MAX * 1024 * 1024, tooLarge);
    return bytes.toString().replace(/^\uFEFF/, '');
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw new CommandFailure(`${file} cannot be read: ${systemCodeOf(error)}`);
  }
}

async function readKeySet(services: CertificateChecker, where: string): Promise<unknown> {
  const isAddress = /^https?:\/\//i.test(where);
  const set = isAddress
    ? await fetchKeySet(services, where)
    : parseKeySet(await readText(where), where);
  if (isRecord(set) && Array.isArray(set['keys'])) return set;
  throw new CommandFailure(`${where} is no set of keys: it has no list of \`keys\`.`);
}

function fetchKeySet({ fetchKeys }: CertificateChecker, where: string): Promise<unknown> {
  return fetchKeys(where).catch((error: unknown) => {
    throw new CommandFailure(`${where} gave no set of keys. ${messageOf(error)}`);
  });
}

function parseKeySet(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandFailure(`${where} is no set of keys: it is not JSON.`);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : '');

const headings = {
  'not-a-certificate': 'This is no erasure certificate.',
  'unknown-key': 'This certificate is of another key.',
  altered: 'This certificate does not hold.',
} as const;

/** @throws {CommandFailure} when it does not hold */
function report(
  { terminal, isJson }: { terminal: Terminal; isJson: boolean },
  verdict: CertificateVerdict,
): void {
  const { isGood, ...said } = verdict;
  if (isJson) printJson(terminal, { valid: isGood, ...said });
  else if (verdict.isGood) terminal.print(renderCertificate(verdict));
  if (verdict.isGood) return;
  throw new CommandFailure(isJson ? '' : `${headings[verdict.reason]} ${verdict.detail}`);
}

function renderCertificate({ kid, claims }: { kid: string; claims: CertificateClaims }): string {
  const facts = [
    ['issuer', printable(claims.iss)],
    ['issued', new Date(claims.iat * 1000).toISOString()],
    ['receipt', claims.jti],
    ['partner', printable(claims.sub)],
    ['key', printable(kid)],
  ] as const;
  const events = claims.events.map((event) => renderFacts(factsOf(event)));
  const repeats = (claims.repeats ?? []).map(({ position, receiptId }) =>
    renderFacts([
      ['event', String(position)],
      ['came before', `see the receipt ${receiptId}`],
    ]),
  );
  return ['The certificate holds.', renderFacts(facts), ...events, ...repeats].join('\n\n');
}

function factsOf(event: CertificateClaims['events'][number]): [string, string][] {
  const { position, eventType, eventId, remains, ...facts } = event;
  return [
    ['event', String(position)],
    ['type', printable(eventType ?? NONE)],
    ['id', printable(eventId ?? NONE)],
    ['outcome', facts.outcome === 'PENDING' ? 'PENDING: open when this was issued' : facts.outcome],
    ['erasure', facts.erasure ?? NONE],
    ['remains', remains?.join(', ') ?? NONE],
    ['received', facts.receivedAt],
    ['claimed', facts.claimedAt ?? NONE],
    ['released', facts.releasedAt ?? NONE],
    ['completed', facts.completedAt ?? NONE],
    ['readers', readersIn(facts)],
    ['SHA-256', facts.digest ?? NONE],
  ];
}

function readersIn({ readers }: Pick<CertificateClaims['events'][number], 'readers'>): string {
  if (!readers) return NONE;
  const { couldRead, following, past, lastPastAt } = readers;
  const last = lastPastAt === undefined ? '' : `, the last ${lastPastAt}`;
  return `${couldRead} could read, ${following} of them follow, ${past} of these are past it${last}`;
}

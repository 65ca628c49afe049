import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import type { CertificateClaims } from '#partners/receipts/certificate.ts';
import { readBytes } from '#shared/bytes.ts';
import { SECOND } from '#shared/clock.ts';
import { deriveKey } from '#shared/crypto/hash.ts';
import { systemCodeOf } from '#shared/errors.ts';
import { isRecord } from '#shared/text/json.ts';
import { CommandFailure, printJson, type RunContext, type Task } from '../command.ts';
import { withStore } from '../with-store.ts';
import { NONE, printable, renderFacts } from '../table.ts';

type VerifyOptions = { jwks?: string; json?: boolean };

/** `receipt verify FILE`: with `--jwks` it needs no configuration, and opens no store. */
export function registerVerify(parent: Command, { action, terminal }: RunContext): void {
  const byOwnKeys = action(async (task) => verify(task, await readOwnKeys(task)));
  parent
    .command('verify <file>')
    .description('check an erasure certificate; offline, by the keys of the store or of --jwks')
    .option('--jwks <file>', 'a file or an address with the set of keys to check by')
    .action(async (...received: unknown[]) => {
      const command = received.at(-1) as Command;
      const { jwks, json } = command.optsWithGlobals<VerifyOptions>();
      if (jwks === undefined) return byOwnKeys(...received);
      const { args } = command;
      await verify({ terminal, isJson: json === true, args }, await readKeySet(jwks));
    });
}

/** @throws {CommandFailure} when the file has no certificate of one of the keys */
async function verify(
  { terminal, isJson, args }: Pick<Task, 'terminal' | 'isJson' | 'args'>,
  keySet: unknown,
): Promise<void> {
  const { verifyCertificate } = await import('#adapters/jose/certificates.ts');
  const verdict = await verifyCertificate(await readText(args[0]), keySet);
  const { isGood, ...said } = verdict;
  if (isJson) printJson(terminal, { valid: isGood, ...said });
  else if (verdict.isGood) terminal.print(renderCertificate(verdict));
  if (verdict.isGood) return;
  throw new CommandFailure(isJson ? '' : `${headings[verdict.reason]} ${verdict.detail}`);
}

function readOwnKeys(task: Task): Promise<unknown> {
  return withStore(task, async ({ database: db, secretKey }) => {
    const { createCertificateSigner } = await import('#adapters/jose/certificates.ts');
    const seed = deriveKey(secretKey, 'certificates');
    return createCertificateSigner({ seed, db, clock: task.clock }).keys();
  });
}

const FETCH_TIMEOUT_MS = 10 * SECOND;

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

async function readKeySet(where: string): Promise<unknown> {
  const isAddress = /^https?:\/\//i.test(where);
  const set = isAddress ? await fetchKeySet(where) : parseKeySet(await readText(where), where);
  if (isRecord(set) && Array.isArray(set['keys'])) return set;
  throw new CommandFailure(`${where} is no set of keys: it has no list of \`keys\`.`);
}

async function fetchKeySet(where: string): Promise<unknown> {
  const { fetchJson } = await import('#adapters/jose/key-set.ts');
  return fetchJson(where, AbortSignal.timeout(FETCH_TIMEOUT_MS)).catch((error: unknown) => {
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

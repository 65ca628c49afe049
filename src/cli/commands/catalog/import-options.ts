import { type Command, Option } from 'commander';
import type { ImportWork } from '#catalog/import/import-draft.ts';
import type { ImportServer } from '#catalog/import/import-target.ts';
import type { Environment } from '#config/environment.ts';
import { isLoopbackHost } from '#shared/text/address.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { UsageError } from '../../command.ts';

export type ImportOptions = ServerOptions & {
  id?: string[];
  dryRun?: boolean;
  check?: boolean;
  publish?: boolean;
  exclude?: string[];
  breaking?: 'accept';
  format?: 'text' | 'github';
};

/** The work to be done, and its output. */
export type ImportSettings = {
  work: ImportWork;
  /** As they were given: an id, or a file and its id. */
  ids: readonly string[];
  acceptsBreaking: boolean;
  format: 'text' | 'json' | 'github';
};

/** Gives a command the options of an import. */
export function addImportOptions(command: Command): Command {
  return command
    .option('--server <url>', 'where to: the address of a Trackport')
    .option(
      '--id <id>',
      'the id of the file; in a folder FILE=ID, can be repeated',
      (id: string, former: string[] | undefined) => [...(former ?? []), id],
    )
    .option(
      '--exclude <glob>',
      'leave out what matches below the folder, such as "parts/**"; can be repeated',
      (glob: string, former: string[] | undefined) => [...(former ?? []), glob],
    )
    .option('--dry-run', 'say what would be done and change nothing')
    .option(
      '--check',
      'say what publishing would find and change nothing; exit 1 when it finds any',
    )
    .option('--publish', 'publish what is imported')
    .addOption(
      new Option(
        '--breaking <what>',
        'with --publish, --check: breaking changes are remarks only',
      ).choices(['accept']),
    )
    .addOption(
      new Option('--format <format>', 'github: annotations of a workflow').choices([
        'text',
        'github',
      ]),
    )
    .option('--token <token>', 'a bearer token for it; better in the variable TRACKPORT_TOKEN')
    .option('--issuer <url>', 'where a token can be had, with --client-id')
    .option('--client-id <id>', 'its secret is in the variable TRACKPORT_CLIENT_SECRET')
    .option('--scope <scopes>', 'the scopes of that token (default: those that are needed)')
    .option('--audience <audience>', 'what that token is for, where the issuer wants to be told')
    .option('--allow-http', 'send tokens and secrets over plain http also to other machines');
}

/** @throws {UsageError} for what does not go together */
export function readImportSettings(options: ImportOptions, isJson: boolean): ImportSettings {
  const work = readWork(options);
  const acceptsBreaking = options.breaking === 'accept';
  if (acceptsBreaking && work !== 'publish' && work !== 'check')
    throw new UsageError('--breaking goes with --publish or --check.');
  if (isJson && options.format === 'github')
    throw new UsageError('Give either --json or --format github.');
  const format = isJson ? 'json' : (options.format ?? 'text');
  return { work, ids: options.id ?? [], acceptsBreaking, format };
}

function readWork({ dryRun, check, publish }: ImportOptions): ImportWork {
  const given = [dryRun && '--dry-run', check && '--check', publish && '--publish'].filter(Boolean);
  if (given.length > 1)
    throw new UsageError(
      `Give one of ${given.join(' and ')}: --check says what --publish would find, --dry-run what would be imported.`,
    );
  if (dryRun === true) return 'plan';
  if (check === true) return 'check';
  return publish === true ? 'publish' : 'import';
}

/** The server of an import, and the client's credential. */
type ServerOptions = {
  server?: string;
  token?: string;
  issuer?: string;
  clientId?: string;
  scope?: string;
  audience?: string;
  allowHttp?: boolean;
};

/** Scopes that a work needs and no more, so that a check can have a client that only reads. */
const SCOPES: Readonly<Record<ImportWork, string>> = {
  check: 'catalog:read',
  plan: 'catalog:read',
  import: 'catalog:read catalog:write',
  publish: 'catalog:read catalog:write catalog:publish',
};

const NO_CREDENTIAL =
  'Say who comes to the server: a token in TRACKPORT_TOKEN (or --token), or --issuer and --client-id with the secret in TRACKPORT_CLIENT_SECRET.';

/** @throws {UsageError} */
export function readServer(
  options: ServerOptions,
  environment: Environment,
  work: ImportWork,
): ImportServer {
  const { server } = options;
  if (server === undefined)
    throw new UsageError(
      'Say where to: --server with the address of a Trackport, such as https://trackport.example.com.',
    );
  const isHttpAllowed = options.allowHttp === true;
  return {
    server: checkAddress('--server', server, isHttpAllowed).replace(/\/+$/, ''),
    credential: readCredential(options, environment, work),
  };
}

function readCredential(
  options: ServerOptions,
  environment: Environment,
  work: ImportWork,
): ImportServer['credential'] {
  const { token, clientId, issuer } = options;
  if (token !== undefined && clientId !== undefined)
    throw new UsageError('Give either --token or --client-id.');
  if (token !== undefined) return toToken(token);
  if (clientId !== undefined || issuer !== undefined) return toClient(options, environment, work);
  const fromEnvironment = environment['TRACKPORT_TOKEN'] ?? '';
  if (fromEnvironment === '') throw new UsageError(NO_CREDENTIAL);
  return toToken(fromEnvironment);
}

/** A header with anything else would be refused with the token in the message. */
function toToken(text: string): ImportServer['credential'] {
  const token = text.trim();
  if (/^[\x21-\x7e]+$/.test(token)) return { kind: 'token', token: new Secret(token) };
  throw new UsageError('The token is empty, or has blanks or other characters that no token has.');
}

function toClient(
  { issuer, clientId, scope, audience, allowHttp }: ServerOptions,
  environment: Environment,
  work: ImportWork,
): ImportServer['credential'] {
  const secret = environment['TRACKPORT_CLIENT_SECRET'] ?? '';
  if (issuer === undefined || clientId === undefined || secret === '')
    throw new UsageError(
      'Client credentials are --issuer, --client-id and the secret in TRACKPORT_CLIENT_SECRET.',
    );
  checkAddress('--issuer', issuer, allowHttp === true);
  return {
    kind: 'client',
    issuer,
    clientId,
    clientSecret: new Secret(secret),
    scope: scope ?? SCOPES[work],
    audience,
  };
}

/** Tokens and secrets go over a network by https only; loopback is no network. */
function checkAddress(option: string, text: string, isHttpAllowed: boolean): string {
  const url = URL.parse(text);
  const isAddress = url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '';
  if (!isAddress || url.username !== '' || url.password !== '')
    throw new UsageError(
      `${option} takes an address such as https://trackport.example.com, without user, query and fragment.`,
    );
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname) && !isHttpAllowed)
    throw new UsageError(
      `${option} is not https: what is sent could be read on the way. Where that is no danger, add --allow-http.`,
    );
  return url.href;
}

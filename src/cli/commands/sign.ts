import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { serverUrl } from '#config/schema/schema.ts';
import { createPartner, type Partner } from '#partners/partner.ts';
import { signRequest } from '#partners/intake/signed-request.ts';
import { fixedSignings, isFixedScheme, toPublicUri } from '#partners/intake/signing.ts';
import { Secret, webhookSecretBytes } from '#shared/crypto/secret.ts';
import { newUuid } from '#shared/ids.ts';
import {
  CommandFailure,
  type ConfigOptions,
  printJson,
  type Register,
  type RunContext,
  UsageError,
} from '../command.ts';

type SignOptions = ConfigOptions & {
  partner?: string;
  scheme?: string;
  secret?: string;
  url?: string;
  path: string;
  body?: string;
  file?: string;
  curl?: true;
};

/** The partner who signs, and the public address for which. */
type Signer = { partner: Partner; publicUrl: string };

const SCHEMES = Object.keys(fixedSignings).join(', ');

/** `sign`: a request as a partner would sign it now, for tests and first steps. */
export const registerSign: Register = (command, context) => {
  command
    .requiredOption('--partner <id>', 'who sends it: a partner of the configuration')
    .option('--path <path>', 'deletions, events, or a whole path with its query', 'deletions')
    .option('--body <text>', 'the body')
    .option('--file <file>', 'a file with the body, byte for byte; - is standard input')
    .option('--curl', 'print a command to paste instead of the headers')
    .option('--url <url>', 'the public address, in place of server.publicUrl')
    .option('--scheme <scheme>', `without a configuration: ${SCHEMES}`)
    .option('--secret <secret>', 'without a configuration: what the partner signs with')
    .addHelpText(
      'after',
      '\nA call whose time is signed is good for 5 minutes, or as the configuration says.',
    )
    .action((_options: unknown, self: Command) => {
      printSigned(context, self.optsWithGlobals<SignOptions>());
    });
};

function printSigned(context: RunContext, options: SignOptions): void {
  const { terminal, clock } = context;
  const { partner, publicUrl } = findSigner(context, options);
  const url = toPublicUri(publicUrl, toPath(partner.id, options.path));
  const request = { uri: url, body: readBody(options), id: `msg_${newUuid()}` };
  const headers = signRequest(partner, request, clock.now());
  if (headers === undefined)
    throw new CommandFailure(`No secret of ${partner.id} is active at this time.`);
  if (options.json === true) printJson(terminal, { method: 'POST', url, headers });
  else if (options.curl === true) terminal.print(toCurl(url, headers, options));
  else for (const [name, value] of Object.entries(headers)) terminal.print(`${name}: ${value}`);
}

function findSigner(context: RunContext, options: SignOptions): Signer {
  const { partner: id = '', scheme, secret, url } = options;
  if (scheme !== undefined || secret !== undefined) return makeSigner(id, options);
  const config = context.loadConfig(options);
  const settings = config.partners[id];
  if (settings === undefined)
    throw new UsageError(
      `--partner is one of ${Object.keys(config.partners).join(', ') || 'none'}, not "${id}"`,
    );
  const publicUrl = url ?? config.server.publicUrl ?? serverUrl(config.server);
  return { partner: createPartner(id, settings), publicUrl };
}

function makeSigner(id: string, { scheme, secret, url }: SignOptions): Signer {
  if (!isFixedScheme(scheme))
    throw new UsageError(`--scheme is one of ${SCHEMES}; hmac needs a configuration.`);
  if (secret === undefined || secret === '' || url === undefined)
    throw new UsageError('--scheme needs --secret and --url as well.');
  if (scheme === 'standard-webhooks' && !webhookSecretBytes(secret))
    throw new UsageError(`--secret of ${scheme} is whsec_ and base64.`);
  const partner = createPartner(id, { scheme, secrets: [{ value: new Secret(secret) }] });
  return { partner, publicUrl: url };
}

function toPath(partnerId: string, path: string): string {
  if (path.startsWith('/')) return path;
  if (path !== 'events' && path !== 'deletions')
    throw new UsageError(`--path is deletions, events, or starts with a slash, not "${path}"`);
  return `/api/v1/webhooks/partners/${partnerId}/${path}`;
}

function readBody({ body, file }: SignOptions): Buffer {
  if ((body === undefined) === (file === undefined))
    throw new UsageError('Give either --body or --file.');
  if (body !== undefined) return Buffer.from(body);
  try {
    return readFileSync(file === '-' ? 0 : (file ?? ''));
  } catch (error) {
    throw new UsageError(`--file cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function toCurl(url: string, headers: Record<string, string>, options: SignOptions): string {
  const data = options.file === undefined ? (options.body ?? '') : `@${options.file}`;
  const parts = [
    'curl -sS',
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    // Curl would read a file for a body that starts with @.
    `${options.file === undefined ? '--data-raw' : '--data-binary'} ${quote(data)}`,
    quote(url),
  ];
  return parts.join(' \\\n  ');
}

/** One word for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

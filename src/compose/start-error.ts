import { StoreRefusal } from '#shared/database.ts';
import type { StoreAddress } from '#config/schema/values.ts';
import type { Secret } from '#shared/crypto/secret.ts';
import { lookUp } from '#shared/text/json.ts';
import { isTrackportError, systemCodeOf } from '#shared/errors.ts';

/** The exit code of every failure but a wrong configuration or command line. */
export const EXIT_FAILED = 1;

/**
 * Why the service could not start, in one line that says what to do. Exit code 2 for a `StoreRefusal`: somebody has to
 * name another store, or to end who has it.
 */
export class StartError extends Error {
  readonly exitCode: 1 | 2;

  constructor(message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.name = 'StartError';
    this.exitCode = options.cause instanceof StoreRefusal ? 2 : EXIT_FAILED;
  }
}

/** Nobody has made the store. One that is made in place of another, whose disk is away, knows of no deletion. */
export class StoreMissing extends StartError {
  constructor(address: StoreAddress) {
    super(
      `There is no store ${storeName(address)}. \`trackport serve\` or \`trackport migrate\` makes one; if it was there before, bring it back: a new one knows of no deletion.`,
    );
  }
}

/** Option or key that a person changes to have another port. */
export type PortSetter = '--port' | 'server.opsPort';

/** A server that could not listen. */
export function listenError(
  error: unknown,
  { host, port, setBy = '--port' }: { host: string; port: number; setBy?: PortSetter },
): unknown {
  const messages: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is in use. Stop what uses it, or choose another port with ${setBy} (0 picks a free one).`,
    EACCES: `Port ${port} may not be used by this user. Choose one above 1023 with ${setBy}.`,
    EADDRNOTAVAIL: `This machine has no address ${host}. Change server.host.`,
    ENOTFOUND: `The host name ${host} is unknown. Change server.host.`,
    EAI_AGAIN: `The host name ${host} cannot be looked up. Change server.host.`,
  };
  const message = messages[systemCodeOf(error) ?? ''];
  return message === undefined ? error : new StartError(message, { cause: error });
}

/** A store that could not be opened, or not be written at the start. Other errors pass unchanged. */
export function storeError(error: unknown, url: StoreAddress): unknown {
  if (!isTrackportError(error, 'store-unavailable')) return error;
  const code = systemCodeOf(error.cause);
  const name = storeName(url);
  const remedy = url.engine === 'sqlite' ? remedyOf(code) : remedyOfServer(code, error.cause);
  const reason = code === undefined ? '' : ` (${code})`;
  return new StartError(
    `The store ${name} cannot be used: ${error.detail ?? error.code}${reason}${remedy}`,
    { cause: error },
  );
}

/** Name of the store for people, without user and password. */
export function storeName(address: StoreAddress): string {
  return address.engine === 'sqlite' ? address.path : addressOf(address.url);
}

function addressOf(secret: Secret): string {
  if (!URL.canParse(secret.reveal())) return 'in store.url';
  const { host, pathname } = new URL(secret.reveal());
  return `postgres://${host}${pathname}`;
}

/** Remedies by code and text of the driver's error: the first that fits counts. */
const REMEDIES: readonly [code: RegExp, text: RegExp, remedy: string][] = [
  [
    /^$/,
    /does not support SSL/,
    'Switch TLS on at the server (ssl = on), or take sslmode and sslrootcert out of store.url.',
  ],
  [/^28000$/, /no encryption|SSL off/i, 'It wants TLS: add sslmode=verify-full to store.url.'],
  [/^28/, /^/, 'Change user and password in store.url.'],
  [/^3D000$/, /^/, 'Create it (createdb), or name another one in store.url.'],
  [/^42501$/, /^/, 'Give it the right to create tables in its database.'],
  [/^3F000$/, /^/, 'Its user has a search_path without a schema that is there.'],
  [/^ENOENT$/, /^/, 'A file that store.url names is not there.'],
  [/^ERR_TLS_CERT_ALTNAME/, /^/, 'In store.url name a host that the certificate is for'],
  [
    /^CERT_(?:HAS_EXPIRED|NOT_YET)/,
    /^/,
    'Give the server a certificate that is valid now, and look at the clocks of both.',
  ],
  [
    /^(?:ERR_TLS|UNABLE|CERT|SELF_SIGNED|DEPTH_ZERO)/,
    /^/,
    'Nobody known has signed it: name the CA in store.url (sslrootcert=PATH).',
  ],
  [/^E[A-Z]/, /^/, 'Start the server, or change host and port in store.url.'],
];

/** `cause` is what the driver said. */
function remedyOfServer(code = '', cause: unknown): string {
  const said = cause instanceof Error ? cause.message : '';
  const [, , remedy] = REMEDIES.find(([ofCode, of]) => ofCode.test(code) && of.test(said)) ?? [];
  if (remedy === undefined) return '';
  return remedy.endsWith('.') ? ` ${remedy}` : ` ${remedy}${namesIn(cause)}.`;
}

const NAMES_CHARACTERS_MAX = 200;

/** The names in a certificate, which anybody may read who connects. */
function namesIn(cause: unknown): string {
  const names: unknown = lookUp(cause, ['cert', 'subjectaltname']);
  if (typeof names !== 'string' || !/^[\x20-\x7e]+$/.test(names)) return '';
  return ` (${names.slice(0, NAMES_CHARACTERS_MAX)})`;
}

function remedyOf(code: string | undefined): string {
  if (code === undefined) return '';
  // SQLITE_IOERR_SHMSIZE: there is no room for the index of the log, which a start makes.
  if (/FULL|SHMSIZE|ENOSPC|EDQUOT/.test(code)) return ' Free some space on its disk.';
  if (/READONLY|EROFS/.test(code))
    return ' Make the file and its folder writable for this user; where the disk was mounted read-only, see why first.';
  if (/NOTADB|CORRUPT/.test(code)) return ' Restore a backup, or name another file in store.url.';
  if (/IOERR|EIO/.test(code)) return ' See the log of this machine’s kernel, and mend the disk.';
  if (/BUSY|LOCKED/.test(code)) return ' Try again when the other process is done.';
  return ' Its folder must exist or be creatable, and it and the files of the store in it be writable for this user; or name another file in store.url.';
}

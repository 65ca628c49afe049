import { DAY, SECOND, toRfc3339 } from '#shared/clock.ts';
import type { SandboxAccess } from './sandbox.ts';

/** Content of the banner. */
export type Banner = SandboxAccess & {
  /** Base address of the adapter, without a slash at the end. */
  url: string;
  /** Milliseconds; dates in the commands are reckoned from it. */
  now: number;
  apiKey: string;
  /** The configuration file that describes the running sandbox. */
  configPath: string;
  /** The command by which it is called here, and a specification to import. */
  program: { command: string; openapi: string };
};

/** `title`: letters, digits, commas, full stops and hyphens only, so that every shell takes it. */
type Section = { title: string; lines: string[] };

/** The start-up text of the sandbox: where things are, and a command to paste for each area. */
export function renderBanner(facts: Banner): string {
  const sections = [
    ...leadSections(facts),
    ...hmacSections(facts),
    v3Section(facts),
    ...catalogSections(facts),
    receiptSection(facts),
    operationSection(facts),
  ];
  return [
    'Trackport SANDBOX: made-up leads, an empty store at every start, loopback only.',
    `Its keys, tokens and secrets work nowhere else. For the real thing: ${facts.program.command} serve --config FILE`,
    '',
    ...placesOf(facts).map(([name, url]) => `  ${`${name}:`.padEnd(9)}${url}`),
    // A comment is none in an interactive zsh; the command `:` does nothing in any shell.
    ...sections.flatMap(({ title, lines }) => ['', `: ${title}`, ...lines]),
    '',
  ].join('\n');
}

function placesOf({ url, trackerUrl, configPath }: Banner): [string, string][] {
  return [
    ['API', url],
    ['Portal', `${url}/portal   (sign in as owner, operator or reader; no password)`],
    ['Docs', `${url}/docs`],
    ['Tracker', `${trackerUrl}/   (watch an issue being labelled and closed)`],
    ['Config', `${configPath}   (of this run, with its secrets; gone when it stops)`],
  ];
}

function leadSections({ url, apiKey, leadId }: Banner): Section[] {
  const key = `-H 'X-API-KEY: ${apiKey}'`;
  return [
    { title: 'List leads', lines: [`curl -sw '\\n' ${key} '${url}/api/v1/leads?limit=3'`] },
    { title: 'Read one lead', lines: [`curl -sw '\\n' ${key} ${url}/api/v1/leads/${leadId}`] },
  ];
}

function hmacSections({ url, hmacPartner, leadId: read, now }: Banner): Section[] {
  const { id, secret, leadId } = hmacPartner;
  const common = { eventId: 'demo-1', occurredAt: toRfc3339(wholeSeconds(now)) };
  return [
    {
      title: `Send a signed event of ${id}, hmac-sha256. The issue of lead ${read} gets a label, a stage and a comment`,
      lines: hmacCommand(`${url}/api/v1/webhooks/partners/${id}/events`, secret, {
        eventType: 'lead.qualified',
        ...common,
        leadId: read,
      }),
    },
    {
      title: `Have ${id} delete lead ${leadId}, hmac-sha256. It leaves the list, its issue closes`,
      lines: hmacCommand(`${url}/api/v1/webhooks/partners/${id}/deletions`, secret, {
        eventType: 'lead.deletion',
        ...common,
        leadId,
      }),
    },
  ];
}

function v3Section({ url, v3Partner, now }: Banner): Section {
  const { id, secret, externalId } = v3Partner;
  const event = {
    subscriptionType: 'contact.deletion',
    eventId: 1,
    portalId: 1,
    occurredAt: wholeSeconds(now),
    objectId: Number(externalId),
  };
  return {
    title: `Have ${id} delete its contact ${externalId}, signature-v3`,
    lines: v3Command(`${url}/api/v1/webhooks/partners/${id}/deletions`, secret, [event]),
  };
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / SECOND) * SECOND;
}

const JSON_TYPE = "-H 'Content-Type: application/json'";

function hmacCommand(target: string, secret: string, body: unknown): string[] {
  return [
    `BODY='${JSON.stringify(body)}'`,
    `SIGNATURE=$(printf %s "$BODY" | openssl dgst -sha256 -hmac '${secret}' -r | cut -d' ' -f1)`,
    `curl -sw '\\n' ${JSON_TYPE} -H "X-Partner-Signature: sha256=$SIGNATURE" -d "$BODY" ${target}`,
  ];
}

function v3Command(target: string, secret: string, body: unknown): string[] {
  return [
    `BODY='${JSON.stringify(body)}'; TIMESTAMP=$(date +%s)000`,
    `SIGNATURE=$(printf %s "POST${target}$BODY$TIMESTAMP" | openssl dgst -sha256 -hmac '${secret}' -binary | base64)`,
    `curl -sw '\\n' ${JSON_TYPE} -H "X-Vendor-Signature-v3: $SIGNATURE" -H "X-Vendor-Request-Timestamp: $TIMESTAMP" -d "$BODY" ${target}`,
  ];
}

const BEARER = '-H "Authorization: Bearer $TOKEN"';

function catalogSections({ url, now, token, program }: Banner): Section[] {
  const base = `${url}/api/v1/catalog`;
  const draft = {
    id: 'orders-api',
    version: '1.0.0',
    type: 'API',
    owner: 'team-orders',
    title: 'Orders API',
  };
  // A command pasted again gets its first response again and no conflict.
  const once = (step: string): string => `-H 'Idempotency-Key: demo-${step}'`;
  const [sunset] = toRfc3339(now + 90 * DAY).split('T', 1);
  return [
    {
      title: 'Get a token of the sandbox issuer by client credentials',
      lines: [
        `TOKEN=$(curl -s -u '${token.clientId}:${token.clientSecret}' -d grant_type=client_credentials -d 'scope=${token.scope}' ${token.endpoint} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
      ],
    },
    {
      title: 'Create, publish and deprecate a catalog version',
      lines: [
        `curl -sw '\\n' ${BEARER} ${once('create')} ${JSON_TYPE} -d '${JSON.stringify(draft)}' ${base}`,
        `curl -sw '\\n' -X POST ${BEARER} ${once('publish')} '${base}/orders-api/publish?version=1.0.0'`,
        `curl -sw '\\n' -X POST ${BEARER} '${base}/orders-api/deprecate?version=1.0.0&sunset=${sunset}'`,
      ],
    },
    {
      title: 'Import a specification, or a folder of them, into the catalog',
      lines: [
        `TRACKPORT_TOKEN="$TOKEN" ${program.command} catalog import '${program.openapi}' --server ${url}`,
      ],
    },
  ];
}

function receiptSection({ url }: Banner): Section {
  return {
    title: 'See what became of the calls of partners',
    lines: [`curl -sw '\\n' ${BEARER} '${url}/api/v1/receipts?limit=3'`],
  };
}

/** The path is quoted: that of the temporary folder is the machine's. */
function operationSection({ configPath, program }: Banner): Section {
  const commands = ['doctor', 'consumer list', 'receipt list', 'claim list'];
  return {
    title: 'Look after it from a second terminal, in the same folder',
    lines: [
      `CONFIG='${configPath}'`,
      ...commands.map((command) => `${program.command} ${command} --config "$CONFIG"`),
    ],
  };
}

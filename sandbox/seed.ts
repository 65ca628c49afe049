import { DAY, HOUR, MINUTE, SECOND } from '#shared/clock.ts';
import type { NewIssue } from './tracker/world/change-issues.ts';

/** Login of the portal that creates issues by API and appends metadata blocks. */
export const PORTAL_AUTHOR = 'acme-portal[bot]';

/** The id by which partner `crm-two` knows the person of the portal's lead. */
export const PORTAL_LEAD_EXTERNAL_ID = '4711';

/** Labels of the sample repository. */
export const sampleLabels = [
  { name: 'approved', color: '1a7f37', description: 'Sales may read this lead' },
  { name: 'priority: high', color: 'd1242f', description: null },
  { name: 'priority: medium', color: 'bf8700', description: null },
  { name: 'priority: low', color: '8c959f', description: null },
  { name: 'partner-program', color: '0969da', description: null },
  { name: 'qualified', color: '1f883d', description: 'A partner has qualified this lead' },
  { name: 'spam', color: '57606a', description: null },
  { name: 'deleted-by-partner', color: '8250df', description: 'A partner had this lead deleted' },
] as const;

/** Typed fields of the sample organization. */
export const sampleFields = [
  { name: 'Region', dataType: 'single_select', options: ['AMER', 'APAC', 'EMEA'] },
  { name: 'Products', dataType: 'multi_select', options: ['Catalog', 'Events', 'Orders'] },
  { name: 'Stage', dataType: 'single_select', options: ['New', 'Qualified', 'Won'] },
  { name: 'Team size', dataType: 'number' },
  { name: 'Call back on', dataType: 'date' },
  { name: 'Notes', dataType: 'text' },
] as const;

/** Names that leads have them by, for the adapter's configuration. */
export const SAMPLE_ISSUE_FIELDS = {
  region: 'Region',
  products: 'Products',
  stage: 'Stage',
  teamSize: 'Team size',
  callBackOn: 'Call back on',
  notes: 'Notes',
} as const;

type Person = {
  firstName: string;
  email: string;
  company?: string;
  interest?: string;
  message?: string;
  sourcePage?: string;
};

/**
 * The sample repository's issues, oldest first: what an issue form leaves behind, CRLF and empty
 * fields included, between pull requests. All people are made up. The same `now` (milliseconds)
 * gives the same issues.
 */
export function sampleIssues(now: number): NewIssue[] {
  const start = Math.floor(now / SECOND) * SECOND;
  return samples.map((sample, at) => {
    const createdAt = start - (samples.length - at) * (DAY + 37 * MINUTE);
    return { ...sample, createdAt, updatedAt: createdAt + (at % 4) * HOUR };
  });
}

const NOTHING = '_No response_';

/** The body that GitHub's issue form saves from a browser: CRLF, a heading for every field. */
function formBody(person: Person): string {
  const { firstName, email, company, interest, message, sourcePage } = person;
  const fields = {
    'First name': firstName,
    Email: email,
    Company: company,
    Interest: interest,
    Message: message,
    'Source page': sourcePage,
  };
  return Object.entries(fields)
    .map(([heading, value]) => `### ${heading}\n\n${value ?? NOTHING}`)
    .join('\n\n')
    .replaceAll('\n', '\r\n');
}

function lead(person: Person, more: Omit<NewIssue, 'title' | 'body'> = {}): NewIssue {
  const subject = person.interest ?? 'Contact request';
  const labels = ['approved'];
  return { title: subject, body: formBody(person), author: 'visitor-desk', labels, ...more };
}

function pullRequest(title: string): NewIssue {
  return { title, body: 'Changes the issue form.', author: 'octo-operator', isPullRequest: true };
}

/** The portal writes LF, and its block after everything that the visitor typed. */
function portalLead(person: Person): NewIssue {
  const block = `<!-- trackport
correlationId: 0b9f4c1e-6d2a-4f57-9a3e-2c8d1f7b6a50
portalRunUrl: https://portal.example.com/runs/81
externalIds: { crm-two: "${PORTAL_LEAD_EXTERNAL_ID}" }
-->`;
  const body = `${formBody(person).replaceAll('\r\n', '\n')}\n\n${block}\n`;
  return {
    ...lead(person),
    body,
    author: PORTAL_AUTHOR,
    labels: ['approved', 'priority: high'],
    type: 'Request',
    fields: {
      Region: { option: 'APAC' },
      'Call back on': '2026-12-01',
      Notes: 'Hana leads the team.',
    },
  };
}

const LONG_MESSAGE = `We have been looking for this for a while. Some background:

### Where we are

1. Forty shops in three countries.
2. Orders arrive as files at night.

\`\`\`text
### Email
not-mine@example.net
\`\`\`

${'We would like to know how others with the same set-up have done it, and how long it took. '.repeat(20).trim()}

Thank you for reading this far!`;

const samples: readonly NewIssue[] = [
  lead(
    {
      firstName: 'Ada',
      email: 'ada@example.com',
      company: 'Example Mills',
      interest: 'Order API',
      message: 'Please call me back.',
      sourcePage: '/pricing',
    },
    {
      labels: ['approved', 'priority: high'],
      assignees: ['octo-operator'],
      type: 'Request',
      fields: { Region: { option: 'EMEA' }, 'Team size': 12, Notes: 'Ada prefers the telephone.' },
    },
  ),
  pullRequest('Add a heading to the contact form'),
  lead(
    { firstName: 'Bo', email: 'bo@example.org', interest: 'Newsletter' },
    { state: 'closed', stateReason: 'completed' },
  ),
  lead(
    {
      firstName: 'Zoë 🌻',
      email: 'zoe@example.net',
      company: 'Blümchen & Söhne ✿',
      interest: 'Partner program',
      message: 'Grüße aus Ötigheim 👋🏽\nWir würden gern mitmachen 🎉',
      sourcePage: '/partners?utm_source=mail&lang=de',
    },
    {
      labels: ['approved', 'partner-program', 'priority: medium'],
      type: 'Partnership',
      fields: { Region: { option: 'EMEA' }, Products: ['Catalog', 'Events'] },
    },
  ),
  lead(
    {
      firstName: 'Win',
      email: 'win@example.com',
      interest: 'CHEAP OFFERS',
      message: '<script>alert("hello")</script> Visit https://spam.example',
    },
    { labels: ['spam'] },
  ),
  lead({
    firstName: 'Casey',
    email: 'casey@example.org',
    company: 'Sample Logistics',
    interest: 'Shipment events',
    message: LONG_MESSAGE,
    sourcePage: '/docs/events',
  }),
  lead({ firstName: 'Dana', email: 'dana@example.com', interest: 'Order API' }, { labels: [] }),
  pullRequest('Make the message field longer'),
  lead(
    {
      firstName: 'Eli',
      email: 'Eli.Example@Example.com',
      company: 'Eli Example Ltd',
      interest: 'Invoices',
      message: 'Same question as last year.',
      sourcePage: '/contact',
    },
    { labels: ['Approved', 'priority: low'] },
  ),
  lead(
    {
      firstName: 'Eli',
      email: 'eli.example@example.com',
      company: 'Eli Example Ltd',
      interest: 'Invoices, again',
      message: 'Any news?',
      sourcePage: '/contact',
    },
    { labels: ['approved', 'priority: high'], assignees: ['octo-operator', 'visitor-desk'] },
  ),
  lead(
    {
      firstName: 'Finn',
      email: 'finn@example.net',
      company: 'Fictional Foods',
      interest: 'Catalog',
      sourcePage: '/catalog',
    },
    { state: 'closed', stateReason: 'not_planned', labels: ['approved', 'priority: low'] },
  ),
  lead(
    {
      firstName: 'Gone',
      email: 'gone@example.org',
      interest: 'Demo',
      message: 'The account that wrote this was deleted.',
    },
    { author: null },
  ),
  portalLead({
    firstName: 'Hana',
    email: 'hana@example.com',
    company: 'Example Robotics',
    interest: 'Demo',
    message: 'Tuesday afternoon would suit us.',
    sourcePage: '/demo',
  }),
  lead(
    {
      firstName: 'Ira',
      email: 'ira@example.com',
      company: 'Made-up Media',
      interest: 'Order API',
      message: 'How many requests a minute?',
      sourcePage: '/docs',
    },
    {
      type: 'Question',
      fields: {
        Region: { option: 'AMER' },
        Products: ['Orders'],
        Stage: { option: 'New' },
        'Team size': 3,
      },
    },
  ),
];

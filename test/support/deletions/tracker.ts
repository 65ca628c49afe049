import { onTestFinished } from 'vitest';
import type { OwnComment } from '#partners/worker/held-leads.ts';
import { startTracker } from '#sandbox/tracker/tracker.ts';
import type { Tracker, TrackerOptions } from '#sandbox/tracker/tracker-api.ts';
import { REPOSITORY } from '../directory.ts';

export const ADMIN = 'token-of-an-admin';
export const WRITER = 'token-of-a-writer';

/** A tracker that knows a token of an admin and one of a writer; closed when the test ends. */
export async function openTracker(options: TrackerOptions = {}): Promise<Tracker> {
  const tracker = await startTracker({
    repository: REPOSITORY,
    tokens: [
      { token: ADMIN, can: 'admin' },
      { token: WRITER, can: 'write' },
    ],
    ...options,
  });
  onTestFinished(() => tracker.close());
  return tracker;
}

/** Nobody has written a comment. */
export const noComment: OwnComment = {
  read: async () => undefined,
  noteTry: async () => undefined,
  noteWritten: async () => undefined,
};

type LeadInput = {
  email?: string;
  correlationId?: string;
  externalIds?: Record<string, string>;
  message?: string;
};

/** An issue as the portal makes it: form and metadata block. */
export function leadIssue(input: LeadInput = {}) {
  const { email = 'ada@example.com', correlationId, externalIds = {} } = input;
  const metadata = [
    '<!-- trackport',
    ...(correlationId === undefined ? [] : [`correlationId: ${correlationId}`]),
    `externalIds: ${JSON.stringify(externalIds)}`,
    '-->',
  ];
  return {
    title: 'A lead',
    body: [
      '### First name',
      '',
      'Ada',
      '',
      '### Email',
      '',
      email,
      '',
      '### Message',
      '',
      input.message ?? 'Hello',
      '',
      ...metadata,
    ].join('\n'),
    author: 'acme-portal[bot]',
    labels: ['approved', 'eu'],
  };
}

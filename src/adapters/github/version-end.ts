import { API_VERSION, type TrackerExchange, type VersionEnd } from './transport/client.ts';
import { toRfc3339 } from '#shared/clock.ts';

/** Keeps what the tracker told last about the end of the API version that we speak. */
export function createVersionNotice(): {
  note(exchange: Pick<TrackerExchange, 'versionEnd'>): void;
  /** For people; undefined as long as no end is announced. */
  text(): string | undefined;
} {
  let end: VersionEnd | undefined;
  return {
    note: ({ versionEnd }) => {
      end = versionEnd ?? end;
    },
    text: () => end && describe(end),
  };
}

function describe({ deprecatedAt, sunsetAt }: VersionEnd): string {
  const since = deprecatedAt === undefined ? '' : ` as of ${toRfc3339(deprecatedAt)}`;
  const until = sunsetAt === undefined ? '' : `, and ends at ${toRfc3339(sunsetAt)}`;
  return `Version ${API_VERSION} of the tracker's API is deprecated${since}${until}.`;
}

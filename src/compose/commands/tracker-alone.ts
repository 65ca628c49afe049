import { stringify } from 'yaml';
import { createLog, type LogOutput } from '../telemetry/log.ts';
import { listenError } from '../start-error.ts';
import { startTrackerAlone, type TrackerAloneOptions } from '#sandbox/tracker-alone.ts';
import type { Clock } from '#shared/clock.ts';
import { COMMIT, PROGRAM_COMMAND, VERSION } from '#shared/program.ts';

export type TrackerRequest = TrackerAloneOptions & {
  clock: Clock;
  logOutput: LogOutput;
  /** Gets a configuration once it listens. */
  print: (text: string) => void;
};

/** The sandbox's tracker alone: `trackport sandbox --tracker-only`. @throws {StartError} for a port that is taken */
export async function startTrackerOnly(
  request: TrackerRequest,
): Promise<{ stop(): Promise<void>; reload(): void }> {
  const { clock, logOutput, print, port } = request;
  const log = createLog('info', logOutput);
  const { tracker, config } = await startTrackerAlone(clock, request).catch((error: unknown) =>
    Promise.reject(listenError(error, { host: '127.0.0.1', port })),
  );
  const service = URL.parse(request.webhookUrl ?? '')?.origin;
  print(renderConfig(tracker.url, { ...serverOf(service), ...config }));
  log.info({ version: VERSION, commit: COMMIT, url: tracker.url }, 'listening');
  return {
    stop: () => tracker.close(),
    reload: () => log.info({}, 'nothing to reload: the sandbox has no configuration file'),
  };
}

/** Where the tracker's webhook leads. */
function serverOf(service: string | undefined) {
  if (service === undefined) return {};
  const { port } = new URL(service);
  return { server: { ...(port !== '' && { port: Number(port) }), publicUrl: service } };
}

function renderConfig(trackerUrl: string, settings: Readonly<Record<string, unknown>>): string {
  return `# A stand-in for GitHub: made-up leads, on this machine only, as long as this runs. Its page: ${trackerUrl}/
# To begin with, as trackport.yaml, in another terminal; what is missing has its default:
#   ${PROGRAM_COMMAND} doctor --fix --config trackport.yaml
#   ${PROGRAM_COMMAND} serve --config trackport.yaml
#   ${PROGRAM_COMMAND} consumer create "Sales tool" --grant leads:read --config trackport.yaml
${stringify(settings)}`;
}

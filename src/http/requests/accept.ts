/** What the media type of YAML (RFC 9512) was called before. Responses never have these names. */
const FORMER_NAMES = new Set(['application/x-yaml', 'text/yaml', 'text/x-yaml']);

/** True when `Accept` wants YAML more than JSON (RFC 9110 §12.5.1). Without it JSON is wanted. */
export function prefersYaml(accept: string | undefined): boolean {
  const ranges = rangesIn(accept ?? '*/*');
  const former = ranges.filter(({ type }) => FORMER_NAMES.has(type));
  const quality = Math.max(
    qualityIn(ranges, 'application/yaml'),
    ...former.map((range) => range.quality),
  );
  return quality > qualityIn(ranges, 'application/json');
}

/** True when `Accept` names server-sent events: whoever takes anything gets JSON. */
export function prefersEventStream(accept = ''): boolean {
  const named = rangesIn(accept).find(({ type }) => type === 'text/event-stream');
  return named !== undefined && named.quality > 0;
}

type Range = { type: string; quality: number };

function rangesIn(accept: string): Range[] {
  return accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const quality = Number(parameters.find((one) => one.startsWith('q='))?.slice('q='.length) ?? 1);
    return { type, quality: Number.isNaN(quality) ? 0 : quality };
  });
}

/** What names a type most closely decides. */
function qualityIn(ranges: readonly Range[], type: string): number {
  const names = [type, type.replace(/\/.*/, '/*'), '*/*'];
  const closest = names.find((name) => ranges.some((range) => range.type === name));
  return ranges.find((range) => range.type === closest)?.quality ?? 0;
}

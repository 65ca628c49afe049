/** The media type of YAML (RFC 9512), and the names that it had before. */
const YAML = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml'];
const JSON_TYPES = ['application/json'];

/** True when `Accept` wants YAML more than JSON (RFC 9110 §12.5.1). Without it JSON is wanted. */
export function prefersYaml(accept: string | undefined): boolean {
  const ranges = rangesIn(accept ?? '*/*');
  const qualityOf = (types: readonly string[]): number =>
    Math.max(...types.map((type) => qualityIn(ranges, type)));
  return qualityOf(YAML) > qualityOf(JSON_TYPES);
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

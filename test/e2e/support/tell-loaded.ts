/**
 * To be preloaded into a service: tells on standard error which modules of OpenTelemetry and the portal it loads,
 * by the source maps of what it loads.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

registerHooks({
  load: (url, context, nextLoad) => {
    if (url.includes('/dist/'))
      for (const source of sourcesOf(url))
        if (/\/(?:@opentelemetry|openid-client|src\/portal)\//.test(source))
          process.stderr.write(`loaded ${source}\n`);
    return nextLoad(url, context);
  },
});

function sourcesOf(url: string): string[] {
  const { sources } = JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, 'utf8')) as {
    sources: string[];
  };
  return sources;
}

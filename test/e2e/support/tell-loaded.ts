/** To be preloaded into a service: tells on standard error which modules of OpenTelemetry it loads. */
import { registerHooks } from 'node:module';

registerHooks({
  load: (url, context, nextLoad) => {
    if (url.includes('/@opentelemetry/')) process.stderr.write(`loaded ${url}\n`);
    return nextLoad(url, context);
  },
});

/** To be preloaded into a service: tells on standard error which modules of OpenTelemetry and the portal it loads. */
import { registerHooks } from 'node:module';

registerHooks({
  load: (url, context, nextLoad) => {
    if (/\/(?:@opentelemetry|openid-client|src\/portal)\//.test(url))
      process.stderr.write(`loaded ${url}\n`);
    return nextLoad(url, context);
  },
});

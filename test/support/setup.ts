// nock only intercepts sockets that were opened while it is active, so it is loaded before any test.
import nock from 'nock';
import fc from 'fast-check';

if (!nock.isActive()) nock.activate(); // a file before in this process may have ended it
nock.disableNetConnect();
nock.enableNetConnect(/^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/);

// Properties take the same inputs in every run: the gate must not fail for what a change has not touched. Others are
// looked for with `SEED`.
fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 1) });

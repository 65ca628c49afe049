// nock only intercepts sockets that were opened while it is active, so it is loaded before any test.
import nock from 'nock';

if (!nock.isActive()) nock.activate(); // a file before in this process may have ended it
nock.disableNetConnect();
nock.enableNetConnect(/^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/);

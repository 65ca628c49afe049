// nock only intercepts sockets that were opened while it is active, so it is loaded before any test.
import nock from 'nock';

nock.disableNetConnect();
nock.enableNetConnect(/^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/);

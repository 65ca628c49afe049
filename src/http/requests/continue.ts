import type { Server } from 'node:http';

/**
 * A client that asks first (`Expect: 100-continue`) is told to go on when its body is about to be read: what
 * can be refused without it was refused by then. Who is refused may keep the body, so the connection ends.
 * @see RFC 9110 section 10.1.1
 */
export function continueWhenRead(server: Server): void {
  server.on('checkContinue', (request, response) => {
    response.setHeader('connection', 'close');
    request.once('resume', () => {
      if (response.headersSent) return; // Node throws the rest away
      response.removeHeader('connection');
      response.writeContinue();
    });
    server.emit('request', request, response);
  });
}

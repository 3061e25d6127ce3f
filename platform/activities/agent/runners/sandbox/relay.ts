/** Where the proxy's socket is inside. */
export const PROXY_SOCKET = '/proxy';

/**
 * A program for `node -e` that relays a port of the sandbox's loopback to the proxy's socket outside. It prints the
 * port, closes its standard output once it listens, and runs until it is killed. It must not contain a single quote,
 * because a shell script quotes it.
 */
export const RELAY_PROGRAM = `
const fs = require("node:fs");
const net = require("node:net");
const server = net.createServer({ allowHalfOpen: true }, (client) => {
  const proxy = net.connect({ path: "${PROXY_SOCKET}", allowHalfOpen: true });
  for (const [one, other] of [[client, proxy], [proxy, client]]) {
    one.on("error", () => one.destroy());
    one.on("close", () => other.destroy());
    one.pipe(other);
  }
});
server.listen(0, "127.0.0.1", () => {
  fs.writeSync(1, String(server.address().port));
  fs.closeSync(1);
  // Reuses the freed descriptor number, because streams expect a standard output.
  fs.openSync("/dev/null", "w");
});
`;

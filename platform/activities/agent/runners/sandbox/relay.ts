/** Where the proxy's socket is inside. */
export const PROXY_SOCKET = '/proxy';

/**
 * A program for `node -e`: the way from a port of the sandbox's own loopback to the proxy's socket outside. It prints
 * the port, closes its standard output as a sign that it listens, and goes on until it is killed. It holds no single
 * quote, because it stands between two of them in a shell's script.
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
  // Takes the number that is free now: streams look at standard output, which must be there.
  fs.openSync("/dev/null", "w");
});
`;

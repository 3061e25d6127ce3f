/** What a probe connects to: a name or an IP address, and a port. */
export type Target = readonly [host: string, port: number];

/**
 * What a probe found, by `WAY host port`. The ways are `direct` and, if HTTP_PROXY is set, `CONNECT` and `GET` through
 * the proxy. The value is `reached`, an error's code, or the proxy's status and body.
 */
export type Found = Record<string, string>;

/**
 * A program for `node -e` that tries each target of the JSON on its standard input and prints its findings as JSON. It
 * runs both outside the sandbox and as an agent inside.
 */
export const PROBE = `
const net = require('node:net');
const connect = (host, port) => new Promise((resolve) => {
  const socket = net.connect({ host, port, autoSelectFamily: false }, () => { resolve('reached'); socket.destroy(); });
  socket.on('error', (error) => resolve(error.code));
});
const request = (start) => start + ' HTTP/1.1\\r\\nhost: probe\\r\\nconnection: close\\r\\n\\r\\n';
const ask = (proxy, start, then) => new Promise((resolve) => {
  const socket = net.connect({ host: proxy.hostname, port: proxy.port });
  let answer = '';
  socket.write(request(start));
  socket.on('data', (bytes) => {
    const first = answer === '';
    answer += bytes;
    if (first && then && answer.startsWith('HTTP/1.1 200')) socket.write(request(then));
  });
  socket.on('error', (error) => resolve(error.code));
  socket.on('end', () => {
    const body = answer.slice(answer.lastIndexOf('\\r\\n\\r\\n')).trim();
    resolve(body.includes('reached') ? 'reached' : answer.split(' ')[1] + ' ' + body);
    socket.destroy();
  });
});
(async () => {
  const found = {};
  const proxy = process.env.HTTP_PROXY && new URL(process.env.HTTP_PROXY);
  for (const [host, port] of JSON.parse(require('node:fs').readFileSync(0, 'utf8'))) {
    const authority = (host.includes(':') ? '[' + host + ']' : host) + ':' + port;
    found['direct ' + host + ' ' + port] = await connect(host, port);
    if (!proxy) continue;
    found['CONNECT ' + host + ' ' + port] = await ask(proxy, 'CONNECT ' + authority, 'GET /');
    found['GET ' + host + ' ' + port] = await ask(proxy, 'GET http://' + authority + '/?key=secret');
  }
  console.log(JSON.stringify(found));
})();
`;

/** The expectation that every target gives the same answer in each of these ways. */
export function everywhere(
  targets: readonly Target[],
  answer: unknown,
  ways: readonly string[] = ['direct'],
): Record<string, unknown> {
  return Object.fromEntries(
    targets.flatMap(([host, port]) => ways.map((way) => [`${way} ${host} ${port}`, answer] as const)),
  );
}

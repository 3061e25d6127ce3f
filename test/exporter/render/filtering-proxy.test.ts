import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createAddressGuard } from '../../../exporter/fetch/address-guard.ts';
import { type FilteringProxy, startFilteringProxy } from '../../../exporter/render/filtering-proxy.ts';
import { type HttpSite, startHttpSite } from '../../helpers/http-site.ts';

let site: HttpSite;
let inside: HttpSite;
let proxy: FilteringProxy;
let refused: string[];
let odd: Server;
let oddHead: string;
let oddHost: string;

beforeAll(async () => {
  site = await startHttpSite((incoming, response) => {
    if (incoming.url === '/large') response.end(Buffer.alloc(400_000));
    else if (incoming.url === '/away') response.writeHead(302, { location: `${inside.origin}/hop` }).end();
    else response.end(`${incoming.method} ${incoming.headers.host} ${incoming.headers['proxy-connection'] ?? 'none'}`);
  });
  inside = await startHttpSite((_incoming, response) => response.end('secret'));
  odd = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => socket.end(`HTTP/1.1 ${oddHead}\r\ncontent-length: 0\r\n\r\n`));
  });
  await once(odd.listen(0, '127.0.0.1'), 'listening');
  const at = odd.address();
  oddHost = `127.0.0.1:${at === null || typeof at === 'string' ? '' : at.port}`;
  const guard = createAddressGuard({
    operatorHosts: [site.host, oddHost, `other.example:${site.port}`],
    resolve: async (name) => (name === 'mixed.example' ? ['93.184.216.34', '10.0.0.1'] : ['127.0.0.1']),
  });
  proxy = await startFilteringProxy({
    guard,
    isAdmitted: ({ hostname }) => hostname !== 'unknown.example',
    maxBytes: 100_000,
    onRefused: (target, reason) => refused.push(`${target}: ${reason}`),
  });
});

beforeEach(() => {
  refused = [];
});

afterAll(async () => {
  await proxy.close();
  odd.close();
  await site.close();
  await inside.close();
});

async function text(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function authorization({ username, password } = proxy.credentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** Sends a request to the proxy as a browser does. `target`: the target in the request line. */
async function send(target: string, method = 'GET', more: Record<string, string> = {}) {
  const { hostname, port } = new URL(proxy.address);
  const headers = {
    host: URL.canParse(target) ? new URL(target).host : 'proxy',
    'proxy-connection': 'keep-alive',
    'proxy-authorization': authorization(),
    ...more,
  };
  const sent = request({ hostname, port, path: target, method, headers, agent: false }).end();
  const [response]: IncomingMessage[] = await once(sent, 'response');
  if (response === undefined) throw new Error('no response');
  return { status: response.statusCode ?? 0, body: await text(response) };
}

/** Requests a tunnel. Resolves with the status line and the socket. */
async function tunnel(authority: string, credentials = proxy.credentials): Promise<{ line: string; socket: Socket }> {
  const { hostname, port } = new URL(proxy.address);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => socket.destroy());
  socket.write(
    `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\nproxy-authorization: ${authorization(credentials)}\r\n\r\n`,
  );
  const [data]: Buffer[] = await once(socket, 'data');
  return { line: String(data).split('\r\n')[0] ?? '', socket };
}

describe("the browser's filtering proxy", () => {
  it('forwards a request to an admitted host, at the address that the guard resolved', async () => {
    expect(await send(`http://other.example:${site.port}/x`)).toEqual({
      status: 200,
      body: `GET other.example:${site.port} none`,
    });
    expect((await send(`${site.origin}/x`, 'POST')).body).toMatch(/^POST/);
  });

  it.each([
    ['a private address', () => `${inside.origin}/x`, 'not a public address'],
    ['its spelling as one number', () => `http://2130706433:${inside.port}/x`, 'not a public address'],
    ['its form in IPv6', () => `http://[::ffff:127.0.0.1]:${inside.port}/x`, 'not a public address'],
    ['a name that resolves to one', () => `http://private.example:${inside.port}/x`, 'not at a public address'],
    ['a name with a private address among others', () => 'http://mixed.example/x', 'not at a public address'],
    ['a host that no page needs', () => 'http://unknown.example/x', 'no page of the site needs'],
    ['a port that is not for the web', () => 'http://other.example:25/x', 'not a web port'],
    ['another protocol', () => 'ftp://other.example/x', 'refused'],
  ])('rejects %s, and reports it', async (_case, target, reason) => {
    expect((await send(target())).status).toBe(403);
    expect(refused).toEqual([expect.stringContaining(reason)]);
    expect(inside.requests).toEqual([]);
  });

  it('follows no redirect itself, and checks the redirected request', async () => {
    expect((await send(`${site.origin}/away`)).status).toBe(302);
    expect((await send(`${inside.origin}/hop`)).status).toBe(403);
    expect(inside.requests).toEqual([]);
  });

  it('applies the same rules to tunnels, as for HTTPS and WebSockets', async () => {
    const { line, socket } = await tunnel(site.host);
    expect(line).toBe('HTTP/1.1 200 Connection established');
    socket.write(`GET /in HTTP/1.1\r\nhost: ${site.host}\r\nconnection: close\r\n\r\n`);
    const [data]: Buffer[] = await once(socket, 'data');
    expect(String(data)).toMatch(/^HTTP\/1\.1 200/);
    socket.destroy();
    for (const authority of [
      inside.host,
      `private.example:${inside.port}`,
      'unknown.example:443',
      '169.254.169.254:80',
    ]) {
      const closed = await tunnel(authority);
      expect(closed.line).toBe('HTTP/1.1 403 Forbidden');
      closed.socket.destroy();
    }
    expect(refused).toHaveLength(4);
    expect(inside.requests).toEqual([]);
  });

  it('requires its password and does not forward it', async () => {
    const wrong = { username: 'galley', password: '' };
    expect((await send(`${site.origin}/x`, 'GET', { 'proxy-authorization': authorization(wrong) })).status).toBe(407);
    const closed = await tunnel(site.host, wrong);
    expect(closed.line).toBe('HTTP/1.1 407 Proxy Authentication Required');
    closed.socket.destroy();
    expect((await send(`${site.origin}/x`)).body).not.toContain('Basic');
  });

  it.each(['042 Low', '999 High', '200 OK\r\nodd: \x01'])('survives a response that starts with %j', async (head) => {
    oddHead = head;
    const response = await send(`http://${oddHost}/`, 'POST').catch(() => undefined);
    expect([undefined, 502]).toContain(response?.status);
    expect((await send(`${site.origin}/x`)).status).toBe(200);
  });

  it('aborts a response above the size limit, and rejects requests to itself', async () => {
    await expect(send(`${site.origin}/large`)).rejects.toThrow(/aborted|reset|hang up/);
    expect((await send('/')).status).toBe(400);
  });
});

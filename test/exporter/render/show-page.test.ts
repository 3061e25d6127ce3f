import { request } from 'node:http';
import { pino } from 'pino';
import { createAddressGuard } from '../../../exporter/fetch/address-guard.ts';
import { BrowserPool } from '../../../exporter/render/browser-pool.ts';
import { openSiteInBrowser, type SiteInBrowser } from '../../../exporter/render/show-page.ts';
import { type HttpSite, startHttpSite } from '../../helpers/http-site.ts';

let origin: HttpSite;
let other: HttpSite;
let shown: SiteInBrowser;

beforeAll(async () => {
  origin = await startHttpSite((_request, response) => response.end());
  other = await startHttpSite((_request, response) => response.end());
  const logger = pino({ level: 'silent' });
  shown = await openSiteInBrowser({
    pool: new BrowserPool({ path: '/nowhere', sandbox: false, searchPath: '', logger }),
    guard: createAddressGuard({ operatorHosts: [origin.host, other.host] }),
    site: { domain: 'docs.example.com', origin: origin.origin },
    fetch: () => Promise.reject(new Error('nothing is fetched')),
    maxBytes: 1_000,
    logger,
  });
});

afterAll(async () => {
  await shown.close();
  await origin.close();
  await other.close();
});

/** Sends a request to the proxy as a browser does. Resolves with the status. */
async function send(method: string, target: string): Promise<number> {
  const { server, username, password } = shown.proxy;
  const { hostname, port } = new URL(server);
  const headers = { 'proxy-authorization': `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
  const sent = request({ hostname, port, path: target, method, headers, agent: false }).end();
  return new Promise((resolve, reject) => {
    sent.once('error', reject);
    sent.once('response', (response) => resolve(response.resume().statusCode ?? 0));
    sent.once('connect', (response, socket) => {
      socket.destroy();
      resolve(response.statusCode ?? 0);
    });
  });
}

describe('a site’s pages can send requests', () => {
  it('to the site, with any method', async () => {
    expect(await send('GET', origin.origin)).toBe(200);
    expect(await send('POST', origin.origin)).toBe(200);
  });

  it('to an admitted host, but only with reading methods', async () => {
    expect(await send('GET', other.origin)).toBe(403);
    await shown.admit(new URL(other.origin));
    expect(await send('GET', other.origin)).toBe(200);
    expect(await send('POST', other.origin)).toBe(403);
  });

  it('through a tunnel only if HTTPS is admitted, so WebSockets over plain HTTP fail', async () => {
    expect(await send('CONNECT', origin.host)).toBe(403);
    expect(await send('CONNECT', other.host)).toBe(403);
    await shown.admit(new URL(`https://${other.host}`));
    expect(await send('CONNECT', other.host)).toBe(200);
  });
});

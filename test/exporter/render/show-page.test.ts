import { request } from 'node:http';
import { pino } from 'pino';
import { createAddressGuard } from '../../../exporter/fetch/address-guard.ts';
import { createBrowserPool } from '../../../exporter/render/browser-pool.ts';
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
    pool: createBrowserPool({ path: '/nowhere', sandbox: false, searchPath: '', logger }),
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

/** The status that the way out answers; what stands in the request line is what a browser writes there. */
async function ask(method: string, target: string): Promise<number> {
  const { server, username, password } = shown.proxy;
  const { hostname, port } = new URL(server);
  const headers = { 'proxy-authorization': `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
  const asking = request({ hostname, port, path: target, method, headers, agent: false }).end();
  return new Promise((resolve, reject) => {
    asking.once('error', reject);
    asking.once('response', (answer) => resolve(answer.resume().statusCode ?? 0));
    asking.once('connect', (answer, socket) => {
      socket.destroy();
      resolve(answer.statusCode ?? 0);
    });
  });
}

describe('what a site’s pages reach beside what they are given', () => {
  it('is the site, by any method', async () => {
    expect(await ask('GET', origin.origin)).toBe(200);
    expect(await ask('POST', origin.origin)).toBe(200);
  });

  it('is a host of others once something was given from there, and to read only', async () => {
    expect(await ask('GET', other.origin)).toBe(403);
    await shown.admit(new URL(other.origin));
    expect(await ask('GET', other.origin)).toBe(200);
    expect(await ask('POST', other.origin)).toBe(403);
  });

  it('is no tunnel where plain HTTP was admitted, such as for a WebSocket', async () => {
    expect(await ask('CONNECT', origin.host)).toBe(403);
    expect(await ask('CONNECT', other.host)).toBe(403);
    await shown.admit(new URL(`https://${other.host}`));
    expect(await ask('CONNECT', other.host)).toBe(200);
  });
});

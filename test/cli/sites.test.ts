import { once } from 'node:events';
import { createServer } from 'node:http';
import { galley } from '../helpers/galley.ts';

/** An api with so many sites that it tells them in three answers. */
async function startPagedApi() {
  const names = Array.from({ length: 5 }, (_, index) => `site-${index}`);
  const asked: (string | null)[] = [];
  const server = createServer((request, response) => {
    const cursor = new URL(request.url ?? '/', 'http://x').searchParams.get('cursor');
    asked.push(cursor);
    const rest = cursor === null ? names : names.filter((name) => name > cursor);
    const sites = rest.slice(0, 2).map((site) => ({ site, phase: 'live' }));
    response.end(JSON.stringify({ sites, nextCursor: rest.length > 2 ? sites.at(-1)?.site : null }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return { url: `http://127.0.0.1:${address.port}`, names, asked, stop: () => server.close() };
}

test('sites status tells of every site, however many answers that takes', async () => {
  const api = await startPagedApi();
  const run = (...options: string[]) =>
    galley(['sites', 'status', '--url', api.url, ...options], { OPERATOR_TOKEN: 'token' });
  const [lines, json] = [await run(), await run('--json')];
  api.stop();
  expect(lines.stdout).toBe(api.names.map((name) => `${name}: live\n`).join(''));
  expect(JSON.parse(json.stdout)).toEqual({
    sites: api.names.map((site) => ({ site, phase: 'live' })),
    nextCursor: null,
  });
  expect(api.asked).toEqual([null, 'site-1', 'site-3', null, 'site-1', 'site-3']);
});

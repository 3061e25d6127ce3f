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

test('sites status of one site lists its newest deliveries and what was turned away', async () => {
  const [id, at] = ['d1', '2026-11-21T08:13:42Z'];
  const state = {
    site: 'docs',
    phase: 'idle',
    deliveries: [
      { id, at, source: 'github', outcome: 'filtered', workflowId: null, topic: 'pu\u001b[2Jsh', why: 'not to main' },
      { id, at, source: 'token', outcome: 'started', workflowId: 'export:docs' },
    ],
    rejected: [{ source: 'token', reason: 'bad-signature', count: 2, lastAt: at }],
  };
  const server = createServer((_request, response) => response.end(JSON.stringify(state))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const url = `http://127.0.0.1:${address.port}`;
  const { stdout } = await galley(['sites', 'status', 'docs', '--url', url], { OPERATOR_TOKEN: 'token' });
  server.close();
  expect(stdout.split('\n')).toEqual([
    'docs: idle',
    `  ${at} github filtered pu [2Jsh (not to main)`,
    `  ${at} token started export:docs`,
    `  ${at} token rejected: bad-signature (2 times)`,
    '',
  ]);
});

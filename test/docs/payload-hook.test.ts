import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { SourcedDelivery } from '../../api/webhooks/configured-source.ts';
import { parserOf } from '../api/sources/source-parser.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const folder = temporaryFolder();
const ADDRESS = 'https://galley.example.com/webhooks/docs/payload';

/** Runs the hooks of docs/sources/payload.md as Payload calls them, and returns the requests that they made. */
async function requestsOf(calls: string): Promise<{ authorization: string | undefined; body: unknown }[]> {
  const page = await readFile('docs/sources/payload.md', 'utf8');
  const [, hooks = ''] = /```ts\n(\/\/ src\/notify-galley\.ts\n[\s\S]*?)```/.exec(page) ?? [];
  const requests: { authorization: string | undefined; body: unknown }[] = [];
  const { origin, close } = await startHttpSite(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    requests.push({ authorization: request.headers.authorization, body: JSON.parse(body) });
    response.writeHead(requests.length === 1 ? 202 : 503).end();
  });
  const script = join(folder, 'hooks.ts');
  await writeFile(script, `${hooks.replace(ADDRESS, `${origin}/`)}\n${calls}`);
  await execa('node', ['--import', './scripts/typescript.js', script], { env: { GALLEY_TOKEN: 'token' } });
  await close();
  return requests;
}

test('the documented Payload hooks send what the source reads, and never fail a save if Galley is unavailable', async () => {
  const requests = await requestsOf(`
    const logged: string[] = [];
    const req: any = { user: { email: 'ada@example.com' }, payload: { logger: { error: (_: object, text: string) => logged.push(text) } } };
    const doc = { id: '65f0c1', title: 'Hello', updatedAt: '2026-11-21T07:59:58.000Z', _status: 'published', hash: 'private' };
    const collection = { slug: 'posts' };
    await notifyAfterChange({ collection, doc, previousDoc: { _status: 'draft' }, operation: 'update', req } as any);
    await notifyAfterDelete({ collection, doc, req } as any);
    if (logged.join() !== 'could not notify Galley') throw new Error(logged.join());
  `);
  expect(requests.map(({ authorization }) => authorization)).toEqual(['Bearer token', 'Bearer token']);
  expect(JSON.stringify(requests)).not.toContain('private');
  const parse = parserOf('payload');
  const event = { id: '65f0c1', title: 'Hello', author: 'ada@example.com' };
  const parsed = requests.map(({ body }): SourcedDelivery => parse(body));
  expect(parsed).toMatchObject([
    { kind: 'publish', contentType: 'posts', event: { ...event, topic: 'update', action: 'publish' } },
    { kind: 'publish', contentType: 'posts', event: { ...event, topic: 'delete', action: 'unpublish' } },
  ]);
});

import { z } from 'zod';
import { spawnGuarded } from '../../embedded/guarded-child.ts';
import { freePort } from '../../test/helpers/free-port.ts';
import { locateRealTool } from '../../test/helpers/real-tool.ts';
import { waitFor } from '../../test/helpers/system/wait-for.ts';
import type { Lifetime } from '../with-cleanups.ts';
import type { CountingSite } from './requests.ts';

const created = z.object({ listen: z.string() });

/** The same site behind toxiproxy, which adds this latency each way. */
export async function putFarAway(site: CountingSite, eachWayMs: number, lifetime: Lifetime): Promise<CountingSite> {
  const port = await freePort();
  const child = spawnGuarded(await locateRealTool('toxiproxy-server'), ['-host', '127.0.0.1', '-port', String(port)], {
    LOG_LEVEL: 'error',
  });
  lifetime.add(child.stop);
  const api = `http://127.0.0.1:${port}`;
  await waitFor(async () => (await fetch(`${api}/version`)).ok, { describe: 'answered by toxiproxy' });
  const post = async (path: string, body: object): Promise<unknown> => {
    const response = await fetch(`${api}${path}`, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok)
      throw new Error(`toxiproxy responded to ${path} with ${response.status}: ${await response.text()}`);
    return await response.json();
  };
  const proxy = { name: 'site', listen: '127.0.0.1:0', upstream: new URL(site.origin).host };
  const { listen } = created.parse(await post('/proxies', proxy));
  for (const stream of ['upstream', 'downstream']) {
    await post('/proxies/site/toxics', { type: 'latency', stream, attributes: { latency: eachWayMs } });
  }
  return { ...site, origin: `http://${listen}` };
}

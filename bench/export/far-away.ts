import { startToxiproxy } from '../../test/helpers/toxiproxy.ts';
import type { Lifetime } from '../with-cleanups.ts';
import type { CountingSite } from './requests.ts';

/** The same site behind toxiproxy, which adds this latency each way. */
export async function putFarAway(site: CountingSite, eachWayMs: number, lifetime: Lifetime): Promise<CountingSite> {
  const toxiproxy = await startToxiproxy();
  lifetime.add(toxiproxy.stop);
  const proxy = await toxiproxy.proxy('site', new URL(site.origin).host);
  await proxy.add('latency', { latency: eachWayMs });
  return { ...site, origin: `http://${proxy.address}` };
}

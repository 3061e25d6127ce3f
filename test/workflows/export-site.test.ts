import { startDevServer, type TestDevServer } from '../helpers/temporal.ts';
import { type SiteBench, type SiteBenchOptions, startSiteBench } from './site-bench.ts';

let server: TestDevServer;
const benches: SiteBench[] = [];

async function bench(options: Partial<SiteBenchOptions> = {}): Promise<SiteBench> {
  const made = await startSiteBench({ client: server.client, connection: server.nativeConnection, ...options });
  benches.push(made);
  return made;
}

beforeAll(async () => {
  server = await startDevServer();
});

afterEach(async () => {
  await Promise.all(benches.splice(0).map((each) => each.close()));
});

afterAll(async () => {
  await server.stop();
});

describe('a publish', () => {
  it('is exported, bundled and deployed, and its link is refreshed', async () => {
    const site = await bench();
    site.api.behaviour.linkLifetimeMs = 4_000;
    await site.publish();
    const live = await site.until('live', ({ phase }) => phase === 'live');
    const first = await site.deployed();
    expect(first?.jobId).toBe(live.jobId);
    await site.until('refreshed', ({ linkExpiresAt }) => linkExpiresAt !== live.linkExpiresAt);
    expect((await site.deployed())?.expiresAtMs).toBeGreaterThan(first?.expiresAtMs ?? 0);
    expect(site.api.jobs).toHaveLength(1);
  });
});

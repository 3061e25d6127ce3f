import { startDevServer, type TestDevServer } from '../helpers/temporal.ts';
import { type SiteBench, type SiteBenchOptions, startSiteBench } from './site-bench.ts';

export type Benches = {
  server: () => TestDevServer;
  bench: (options?: Partial<SiteBenchOptions>) => Promise<SiteBench>;
};

/** One real dev server for a test file and a bench for each test, all of it gone afterwards. */
export function useDevServer(): Benches {
  let server: TestDevServer | undefined;
  const benches: SiteBench[] = [];
  const running = (): TestDevServer => {
    if (!server) throw new Error('the dev server is started by beforeAll');
    return server;
  };

  beforeAll(async () => {
    server = await startDevServer();
  });
  afterEach(async () => {
    await Promise.all(benches.splice(0).map((each) => each.close()));
  });
  afterAll(async () => {
    await server?.stop();
  });

  return {
    server: running,
    async bench(options = {}) {
      const { client, nativeConnection } = running();
      const made = await startSiteBench({ client, connection: nativeConnection, ...options });
      benches.push(made);
      return made;
    },
  };
}

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type DevServer, startDevServer } from '../../embedded/temporal/dev-server.ts';
import { locateDevServer } from '../../embedded/temporal/locate-dev-server.ts';
import { LESS_COLLECTING } from './less-collecting.ts';
import { startPostgres } from './postgres.ts';
import { namespaceOf, SHARED } from './shared-names.ts';
import { createTemplateDatabase } from './test-database.ts';

/**
 * Starts one PostgreSQL server and one Temporal dev server for a whole run. Each test file gets its own database
 * (createDatabase) and namespace (connectTemporal), so files can't interfere with each other.
 */
export async function startSharedServers(): Promise<{ stop(): Promise<void> }> {
  const [postgres, temporal] = await Promise.all([startPostgres(), startTemporal()]);
  await createTemplateDatabase(postgres.url);
  process.env[SHARED.postgres] = postgres.url;
  process.env[SHARED.temporal] = temporal.address;
  return {
    async stop() {
      await temporal.stop();
      await postgres.stop();
    },
  };
}

/** Creates all namespaces at startup, because a search attribute that is added later takes seconds to become usable. */
async function startTemporal(): Promise<DevServer> {
  const all = await readdir('test', { recursive: true });
  const files = all.filter((file) => /\.(integration|system)\.test\.ts$/.test(file));
  return await startDevServer({
    executable: await locateDevServer(),
    moreNamespaces: files.map((file) => namespaceOf(join('test', file))),
    environment: { ...process.env, ...LESS_COLLECTING },
  });
}

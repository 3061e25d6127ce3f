import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type DevServer, startDevServer } from '../../embedded/temporal/dev-server.ts';
import { locateDevServer } from '../../embedded/temporal/locate-dev-server.ts';
import { LESS_COLLECTING } from './less-collecting.ts';
import { startPostgres } from './postgres.ts';
import { namespaceOf, SHARED } from './shared-names.ts';
import { createTemplateDatabase } from './test-database.ts';

/**
 * Starts one PostgreSQL server and one Temporal dev server for a whole run. Each test file gets a database of its own
 * (createDatabase) and a namespace of its own (connectTemporal), so files can't disturb each other.
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

/** Namespaces exist from the start, because the server takes seconds to announce a search attribute added later. */
async function startTemporal(): Promise<DevServer> {
  const all = await readdir('test', { recursive: true });
  const files = all.filter((file) => /\.(integration|system)\.test\.ts$/.test(file));
  return await startDevServer({
    executable: await locateDevServer(),
    moreNamespaces: files.map((file) => namespaceOf(join('test', file))),
    environment: { ...process.env, ...LESS_COLLECTING },
  });
}

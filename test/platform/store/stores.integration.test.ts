import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedDatabase } from '../../../embedded/database/embedded-database.ts';
import { createCrawlStore } from '../../../platform/store/crawl-store.ts';
import { crawlStoreContract } from '../../exporter/store/crawl-store-contract.ts';
import { createDatabase, type TestDatabase } from '../../helpers/test-database.ts';
import { agentJobsContract } from './agent-jobs.contract.ts';
import { agentRunsContract } from './agent-runs.contract.ts';
import { exportJobsContract } from './export-jobs.contract.ts';
import { pullRequestsContract } from './pull-requests.contract.ts';
import { useStores } from './store-fixture.ts';

/** PGlite, started like in the product. */
async function createEmbeddedDatabase(): Promise<TestDatabase> {
  const home = await mkdtemp(join(tmpdir(), 'galley-home-'));
  const { url, maxConnections, stop } = await startEmbeddedDatabase(home);
  return {
    ...{ url, maxConnections },
    async stop() {
      await stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

describe.each([
  ['PostgreSQL', createDatabase],
  ['the embedded database', createEmbeddedDatabase],
])('on %s', (_name, start) => {
  const stores = useStores(start);
  describe('export jobs', () => exportJobsContract(stores));
  describe('agent jobs', () => agentJobsContract(stores));
  describe('runs of agent jobs', () => agentRunsContract(stores));
  describe('exports', () =>
    crawlStoreContract({
      get store() {
        return createCrawlStore(stores.db);
      },
      newJob: stores.newCrawlJob,
    }));
  describe('pull requests', () => pullRequestsContract(stores));

  it('a failed transaction returns its connection to the pool', async () => {
    for (let index = 0; index < 20; index += 1) {
      await expect(stores.db.transaction(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
    }
    const { rows } = await stores.db.transaction((tx) => tx.execute('select 1 as one'));
    expect(rows).toEqual([{ one: 1 }]);
  });
});

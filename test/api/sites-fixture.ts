import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type DataConverter } from '@temporalio/client';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import type { GalleyConfig } from '../../contract/galley-config.ts';
import type { RunningWorker } from '../../contract/worker-options.ts';
import { createOrchestratorWorker } from '../../worker/worker.ts';
import { type RunningAdminApi, startFakeAdminApi } from '../helpers/admin-api/fake-admin-api.ts';
import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';
import { configWith, type RunningApi, startApi } from './running-api.ts';

Runtime.install({ logger: new DefaultLogger('ERROR') });

export type SitesFixture = {
  temporal: TestTemporal;
  client: Client;
  adminApi: RunningAdminApi;
  config: GalleyConfig;
  /** Uses search attributes only with the option `searchAttributes`. */
  api: RunningApi;
  valuesFile(site: string): string;
  createWorker(): Promise<RunningWorker>;
  stop(): Promise<void>;
};

type SitesOptions = {
  dataConverter?: DataConverter;
  searchAttributes?: boolean;
  /** Short for tests without a worker, whose workflows never respond. */
  readDeadlineMs?: number;
};

/** The receiver with a real Temporal server, and sites that a worker exports from a fake Admin API into a folder. */
export async function startSites(
  sites: Record<string, { webhooks: object; agent?: object[]; projectId?: string; guards?: object }>,
  { dataConverter, searchAttributes = false, ...deadlines }: SitesOptions = {},
): Promise<SitesFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'galley-sites-'));
  const valuesFile = (site: string): string => join(folder, `${site}.yaml`);
  const temporal = await connectTemporal();
  const { nativeConnection, namespace } = temporal;
  const converter = dataConverter === undefined ? {} : { dataConverter };
  const client = new Client({ connection: temporal.client.connection, namespace, ...converter });
  const adminApi = await startFakeAdminApi();
  const exportTo = (site: string, guards: object | undefined) => ({
    export: {
      ...{ quietPeriod: '100ms', maxWait: '1s', deployments: [{ valuesFile: valuesFile(site) }] },
      ...(guards !== undefined && { guards }),
    },
  });
  const config = configWith(
    Object.fromEntries(
      Object.entries(sites).map(([name, { guards, ...site }]) => [name, { ...site, ...exportTo(name, guards) }]),
    ),
  );
  const api = await startApi({ client, config, searchAttributesReady: () => searchAttributes, ...deadlines });
  return {
    ...{ temporal, client, adminApi, config, api, valuesFile },
    createWorker: () =>
      createOrchestratorWorker({
        connection: nativeConnection,
        namespace,
        readSite: (site) => config.sites[site],
        adminApi: { url: adminApi.url, key: adminApi.key },
        minRefreshIntervalMs: 1_000,
        searchAttributes,
        logger: pino({ level: 'silent' }),
        workflowBundle: workflowBundles.orchestrator,
        ...converter,
      }),
    async stop() {
      await api.stop();
      await adminApi.close();
      await temporal.stop();
      await rm(folder, { recursive: true });
    },
  };
}

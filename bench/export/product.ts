import { join } from 'node:path';
import { z } from 'zod';
import { startPostgres } from '../../test/helpers/postgres.ts';
import { startS3 } from '../../test/helpers/s3.ts';
import { builtGalley } from '../../test/helpers/system/built-product.ts';
import { fileStorage } from '../../test/helpers/system/object-storage.ts';
import { startPlatformService } from '../../test/helpers/system/platform-service.ts';
import { createPrograms } from '../../test/helpers/system/programs.ts';
import { startTemporalServer } from '../../test/helpers/system/temporal-server.ts';
import type { Lifetime } from '../with-cleanups.ts';
import { temporaryFolder } from '../with-cleanups.ts';
import { exportOverHttp, type FinishedExport, type Project } from './export-client.ts';
import { guardedProgram, resetPeak, type Usage, usageOf } from './process-usage.ts';
import { readStages, type Stages } from './stages.ts';

export interface MeasuredExport extends FinishedExport {
  stages: Stages;
  /** Hash of the bundle's paths and files. */
  contentSha256: string;
  /** Usage of each worker process during this export. */
  workers: readonly Usage[];
}

/** Galley's platform as it runs in production: each part in a separate process. */
export interface Product {
  /** Creates a project. Its first export is a full one. All projects have the same domain. */
  newProject(origin: string): Promise<Project>;
  export(project: Project): Promise<MeasuredExport>;
  /** Stops the workers and starts `count` new ones. `variables` are added to the usual ones. */
  runWorkers(count: 1 | 2, variables?: Readonly<Record<string, string>>): Promise<void>;
}

export type ObjectsOption = 'files' | 's3';

const OPERATOR_TOKEN = 'bench-operator';
const WORKER = 'platform-worker';
/** The same for all projects: broken links contain the domain, and the bench compares exports of one site. */
const DOMAIN = 'docs.example.test';
const SECOND_WORKER = `${WORKER}-2`;

/** Builds Galley and starts PostgreSQL, Temporal's dev server on a database file, the platform and one worker. */
export async function startProduct(objects: ObjectsOption, lifetime: Lifetime): Promise<Product> {
  const galley = await builtGalley();
  const folder = await temporaryFolder(lifetime, 'galley-bench-');
  const postgres = await startPostgres({ durable: true });
  lifetime.add(postgres.stop);
  const temporal = await startTemporalServer(join(folder, 'temporal.db'));
  lifetime.add(temporal.stop);
  const storage = objects === 's3' ? await s3Storage(lifetime) : fileStorage(folder);
  const programs = createPrograms(galley);
  lifetime.add(programs.stop);
  const { url } = await startPlatformService({
    ...{ folder, programs, galley, temporalAddress: temporal.address },
    variables: { OPERATOR_TOKEN, ...storage.variables },
    databaseUrl: postgres.url,
    objectStoreUrl: storage.url,
  });

  let workers = [WORKER];
  let projectCount = 0;
  return {
    newProject: async (origin) => {
      projectCount += 1;
      return await createProject(url, `site-${projectCount}`, origin);
    },
    export: async (project) => {
      const pids = await Promise.all(workers.map((name) => guardedProgram(programs.get(name).pid)));
      const before = await Promise.all(pids.map(beginUsage));
      const finished = await exportOverHttp(url, project, lifetime.signal);
      const after = await Promise.all(pids.map((pid) => usageOf(pid)));
      const usages = after.map((usage, index) => ({
        peakMb: usage?.peakMb ?? Number.NaN,
        cpuSeconds: (usage?.cpuSeconds ?? Number.NaN) - (before[index] ?? 0),
      }));
      const result = workflowResult.parse(await temporal.client.workflow.getHandle(finished.jobId).result());
      return { ...finished, ...result, stages: await readStages(temporal.client, finished.jobId), workers: usages };
    },
    runWorkers: async (count, variables = {}) => {
      if (workers.length === 2) await programs.end(SECOND_WORKER);
      await programs.restart(WORKER, variables);
      if (count === 2) await programs.double(WORKER);
      workers = count === 2 ? [WORKER, SECOND_WORKER] : [WORKER];
    },
  };
}

const workflowResult = z.object({ contentSha256: z.string() });

async function beginUsage(pid: number): Promise<number> {
  await resetPeak(pid);
  return (await usageOf(pid))?.cpuSeconds ?? Number.NaN;
}

/** Creates a key and a project through the admin routes that the commands `keys` and `projects` use. */
async function createProject(url: string, name: string, origin: string): Promise<Project> {
  const post = async (path: string, body: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}/admin/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`/admin/${path} responded with ${response.status}: ${await response.text()}`);
    return await response.json();
  };
  const id = `prj_${name}`;
  const { key } = z.object({ key: z.string() }).parse(await post('keys', { organization: name, plan: 'enterprise' }));
  await post('projects', { organization: name, project: id, domain: DOMAIN, origin });
  return { id, domain: DOMAIN, key };
}

async function s3Storage(lifetime: Lifetime): Promise<{ url: string; variables: Record<string, string> }> {
  const { url, credentials, stop } = await startS3();
  lifetime.add(stop);
  const { accessKeyId, secretAccessKey } = credentials;
  return { url, variables: { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } };
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { NativeConnection } from '@temporalio/worker';
import pino from 'pino';
import { createObjectStore } from '../../platform/objects/create-object-store.ts';
import type { ObjectStore } from '../../platform/objects/object-store.ts';
import { connectDatabase, type Database } from '../../platform/store/database.ts';
import { createPlatformWorker } from '../../platform/worker.ts';
import { ScriptRunner } from '../helpers/script-runner.ts';
import { connectTemporal, type TestTemporal } from '../helpers/temporal.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';

const logger = pino({ level: 'silent' });

describe("the platform's worker", () => {
  let temporal: TestTemporal;
  let folder: string;
  let objects: ObjectStore;
  let db: Database;

  beforeAll(async () => {
    temporal = await connectTemporal();
    folder = await mkdtemp(join(tmpdir(), 'galley-worker-'));
    objects = await createObjectStore({ url: pathToFileURL(folder).href });
    // Unreachable on purpose: the test has no job, so the worker never uses it.
    db = connectDatabase({ url: 'postgres://127.0.0.1:9/nowhere', logger });
  }, 180_000);
  afterAll(async () => {
    await db?.close();
    await objects?.close();
    await temporal?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('shuts down completely if its agent worker cannot be created', async () => {
    const connection = await NativeConnection.connect({ address: temporal.address });
    const forgeFor = (): never => {
      throw new Error('The test has no job');
    };
    const agents = { runner: new ScriptRunner(), forgeFor, workDir: folder, runsAtOnce: -1 };
    const made = createPlatformWorker({
      connection,
      db,
      objects,
      logger,
      agents,
      workflowBundle: workflowBundles.platform,
    });
    await expect(made).rejects.toThrow('WorkerOptions');
    // Closing fails while a worker still uses the connection.
    await connection.close();
  });
});

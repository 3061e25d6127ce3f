// Runs a platform worker in a separate process, for tests that kill it. Its argument is its options as JSON.
import { NativeConnection } from '@temporalio/worker';
import { pino } from 'pino';
import { createObjectStore } from '../../platform/objects/create-object-store.ts';
import { openDatabase } from '../../platform/store/database.ts';
import { createPlatformWorker } from '../../platform/worker.ts';
import type { WorkerProcessOptions } from './platform-worker-process.ts';
import { workflowBundles } from './workflow-bundles.ts';

const options: WorkerProcessOptions = JSON.parse(process.argv[2] ?? '');
const logger = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
const worker = await createPlatformWorker({
  connection: await NativeConnection.connect({ address: options.temporalAddress }),
  namespace: options.temporalNamespace,
  db: await openDatabase({ url: options.databaseUrl, logger }),
  objects: await createObjectStore({ url: options.objectStoreUrl }),
  logger,
  identity: options.identity,
  ...(options.limits && { limits: options.limits }),
  workflowBundle: workflowBundles.platform,
});
process.once('SIGTERM', () => worker.shutdown());
console.log('ready');
await worker.run();
process.exit(0);

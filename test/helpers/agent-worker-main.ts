// Runs a worker for agent jobs in a separate process, for tests that kill it. Its argument is its options as JSON.
import { writeFile } from 'node:fs/promises';
import { NativeConnection } from '@temporalio/worker';
import { pino } from 'pino';
import type { ForgeWriter } from '../../forge/forge.ts';
import { createEmbeddedForge } from '../../platform/forge/embedded-forge.ts';
import { createObjectStore } from '../../platform/objects/create-object-store.ts';
import type { ObjectStore } from '../../platform/objects/object-store.ts';
import { connectDatabase } from '../../platform/store/database.ts';
import { createPlatformWorker } from '../../platform/worker.ts';
import type { AgentWorkerOptions } from './agent-worker-process.ts';
import { ScriptRunner } from './script-runner.ts';
import { workflowBundles } from './workflow-bundles.ts';

const options: AgentWorkerOptions = JSON.parse(process.argv[2] ?? '');
const logger = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
const db = connectDatabase({ url: options.databaseUrl, logger, maxConnections: options.maxConnections });
const forge = createEmbeddedForge({ db, logger, publicUrl: () => 'http://platform.test' });

/** Reports that the worker has reached this place, and blocks forever. */
async function holdAt(place: AgentWorkerOptions['holdAt']): Promise<void> {
  if (options.holdAt !== place) return;
  await writeFile(options.heldFile, '');
  await new Promise(() => {});
}

const heldForge: ForgeWriter = {
  ...forge,
  async openPullRequest(request) {
    await holdAt('before-opening');
    const opened = await forge.openPullRequest(request);
    await holdAt('after-opening');
    return opened;
  },
  async findPullRequest(target) {
    const found = await forge.findPullRequest(target);
    if (found === null) await holdAt('before-pushing');
    return found;
  },
};

const objects = await createObjectStore({ url: options.objectStoreUrl });
const heldObjects: ObjectStore = {
  ...objects,
  async *list(prefix) {
    await holdAt('at-the-end');
    yield* objects.list(prefix);
  },
};

class HeldRunner extends ScriptRunner {
  override async run(task: Parameters<ScriptRunner['run']>[0]) {
    const outcome = await super.run(task);
    await holdAt('agent-done');
    return outcome;
  }
}

const worker = await createPlatformWorker({
  connection: await NativeConnection.connect({ address: options.temporalAddress }),
  namespace: options.temporalNamespace,
  db,
  objects: heldObjects,
  logger,
  identity: options.identity,
  agents: { runner: new HeldRunner(), forgeFor: () => heldForge, workDir: options.workDir },
  searchAttributes: true,
  workflowBundle: workflowBundles.platform,
});
process.once('SIGTERM', () => worker.shutdown());
console.log('ready');
await worker.run();
process.exit(0);

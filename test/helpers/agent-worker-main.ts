// A worker for agent jobs as a process of its own, for a test that kills it. What it works on comes as JSON in its argument.
import { writeFile } from 'node:fs/promises';
import { NativeConnection } from '@temporalio/worker';
import { pino } from 'pino';
import { createEmbeddedForge } from '../../platform/forge/embedded-forge.ts';
import { createObjectStore } from '../../platform/objects/create-object-store.ts';
import { connectDatabase } from '../../platform/store/database.ts';
import { createPlatformWorker } from '../../platform/worker.ts';
import type { AgentFixture } from './agent-fixture.ts';
import { ScriptRunner } from './script-runner.ts';
import { workflowBundles } from './workflow-bundles.ts';

/** `heldFile`: the agent stops for ever when its work is done, and this file is written. */
export type AgentWorkerOptions = AgentFixture['addresses'] & { identity: string; heldFile: string | null };

const options: AgentWorkerOptions = JSON.parse(process.argv[2] ?? '');
const { heldFile, databaseUrl, maxConnections, identity, workDir } = options;
const logger = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
const db = connectDatabase({ url: databaseUrl, logger, maxConnections });
const forge = createEmbeddedForge({ db, logger, publicUrl: () => 'http://platform.test' });

class HeldRunner extends ScriptRunner {
  override async run(task: Parameters<ScriptRunner['run']>[0]) {
    const outcome = await super.run(task);
    if (heldFile === null) return outcome;
    await writeFile(heldFile, '');
    return await new Promise<never>(() => {});
  }
}

const worker = await createPlatformWorker({
  connection: await NativeConnection.connect({ address: options.temporalAddress }),
  namespace: options.temporalNamespace,
  db,
  objects: await createObjectStore({ url: options.objectStoreUrl }),
  logger,
  identity,
  agents: { runner: new HeldRunner(), forgeFor: () => forge, workDir },
  searchAttributes: true,
  workflowBundle: workflowBundles.platform,
});
process.once('SIGTERM', () => worker.shutdown());
console.log('ready');
await worker.run();
process.exit(0);

import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentContext } from './agent-deps.ts';

const PREFIX = 'agent-';
/** Added to the runner's own limit for fetching before it and storing after it. */
const SLACK_MS = 2 * 3_600_000;

/** Runs work in a new local folder and removes it afterwards. */
export async function withWorkFolder<Result>(
  context: Pick<AgentContext, 'workDir' | 'runTimeoutMs' | 'logger'>,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  await mkdir(context.workDir, { recursive: true, mode: 0o700 });
  await forgetDeadFolders(context);
  const folder = await mkdtemp(join(context.workDir, PREFIX));
  try {
    return await work(folder);
  } finally {
    await remove(folder, context);
  }
}

/** A killed worker leaves its folders behind; the next one on this machine removes those too old to be in use. */
async function forgetDeadFolders(context: Pick<AgentContext, 'workDir' | 'runTimeoutMs' | 'logger'>): Promise<void> {
  const deadBefore = Date.now() - context.runTimeoutMs - SLACK_MS;
  for (const name of await readdir(context.workDir)) {
    if (!name.startsWith(PREFIX)) continue;
    const folder = join(context.workDir, name);
    const info = await stat(folder).catch(() => undefined);
    if (info !== undefined && info.mtimeMs < deadBefore) await remove(folder, context);
  }
}

async function remove(folder: string, { logger }: Pick<AgentContext, 'logger'>): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    logger.warn({ err: error, folder }, 'A folder of an agent run could not be removed');
  }
}

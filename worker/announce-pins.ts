import { stat } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Switches } from '../activities/deployments/deployment-target.ts';
import { createValuesFileTarget } from '../activities/deployments/values-file.ts';
import { SIGNALS, WORKFLOW_IDS } from '../contract/names.ts';

/** A values file and the site that is deployed to it. */
export type WatchedFile = { site: string; valuesFile: string };

/** The used part of Temporal's client. */
type PinClient = { workflow: { getHandle(workflowId: string): { signal(name: string): Promise<void> } } };

type AnnouncePinsOptions = {
  client: PinClient;
  logger: Logger;
  files: readonly WatchedFile[];
  /** Watches until this is true. */
  ended: () => boolean;
  sleep?: (ms: number) => Promise<unknown>;
};

/**
 * After an operator pins a version or switches a deployment off, Galley notices within this time. Unchanged files only
 * cost a stat.
 */
const EVERY_MS = 5_000;

type Seen = { stamp: string } & Switches;

/**
 * Signals `configChanged` to a site when an operator sets, changes or removes the pin of one of its values files, or
 * changes `enabled`: the workflow itself reads no file unless one is held or off. Never throws; a failed signal is
 * repeated.
 */
export async function announcePins(options: AnnouncePinsOptions): Promise<void> {
  // A watch per file, so that a hanging file system doesn't delay the others.
  await Promise.all(options.files.map((file) => watch(file, options)));
}

async function watch({ site, valuesFile }: WatchedFile, options: AnnouncePinsOptions): Promise<void> {
  const { client, logger, ended, sleep = (ms) => setTimeout(ms, undefined, { ref: false }) } = options;
  let seen: Seen | undefined;
  while (!ended()) {
    try {
      const now = await look(valuesFile, seen);
      // Announces what was set while no worker ran. The site itself notices what was removed meanwhile.
      if ((seen?.pin ?? null) !== now.pin || (seen?.off ?? false) !== now.off) {
        await signalSite(client, site);
        logger.info({ site, valuesFile, pin: now.pin, off: now.off }, "an operator's pin or `enabled` has changed");
      }
      seen = now;
    } catch (error) {
      // The file doesn't exist yet or is being edited, or Temporal is unavailable: try again later.
      logger.debug({ site, valuesFile, error: String(error) }, 'a values file could not be watched');
    }
    await sleep(EVERY_MS);
  }
}

async function look(valuesFile: string, before: Seen | undefined): Promise<Seen> {
  const { mtimeMs, ino, size } = await stat(valuesFile);
  const stamp = `${mtimeMs} ${ino} ${size}`;
  if (before?.stamp === stamp) return before;
  return { stamp, ...(await createValuesFileTarget(valuesFile).readSwitches()) };
}

async function signalSite(client: PinClient, site: string): Promise<void> {
  try {
    await client.workflow.getHandle(WORKFLOW_IDS.exportSite(site)).signal(SIGNALS.configChanged);
  } catch (error) {
    // A site that was never published has nothing to hold.
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

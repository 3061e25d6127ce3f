import { stat } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Logger } from 'pino';
import { createValuesFileTarget } from '../activities/deployments/values-file.ts';
import { SIGNALS, WORKFLOW_IDS } from '../contract/names.ts';

/** A values file and the site that is deployed to it. */
export type WatchedFile = { site: string; valuesFile: string };

/** What is needed of Temporal's client. */
type PinClient = { workflow: { getHandle(workflowId: string): { signal(name: string): Promise<void> } } };

export type AnnouncePinsOptions = {
  client: PinClient;
  logger: Logger;
  files: readonly WatchedFile[];
  /** The watch goes on until this is true. */
  ended: () => boolean;
  sleep?: (ms: number) => Promise<unknown>;
};

/** An operator who pins a version looks at the result within this time. Unchanged files cost no more than a stat. */
const EVERY_MS = 5_000;

type Seen = { stamp: string; pin: string | null };

/**
 * Signals `configChanged` to a site whenever an operator sets, changes or takes away the pin of one of its values files:
 * the workflow itself asks no file as long as none is held. Never throws; a signal that fails is tried again.
 */
export async function announcePins(options: AnnouncePinsOptions): Promise<void> {
  const { client, logger, files, ended, sleep = (ms) => setTimeout(ms, undefined, { ref: false }) } = options;
  const seen = new Map<string, Seen>();
  while (!ended()) {
    for (const { site, valuesFile } of files) {
      try {
        const before = seen.get(valuesFile);
        const now = await look(valuesFile, before);
        // At first the sites read the pins by themselves, since they are told of the configuration.
        if (before !== undefined && before.pin !== now.pin) {
          await tell(client, site);
          logger.info({ site, valuesFile, pin: now.pin }, "an operator's pin has changed");
        }
        seen.set(valuesFile, now);
      } catch (error) {
        // A file that is still to come or in the middle of being edited, or Temporal away: looked at again.
        if (!seen.has(valuesFile)) seen.set(valuesFile, { stamp: '', pin: null });
        logger.debug({ site, valuesFile, error: String(error) }, 'a pin could not be announced');
      }
    }
    await sleep(EVERY_MS);
  }
}

async function look(valuesFile: string, before: Seen | undefined): Promise<Seen> {
  const { mtimeMs, ino, size } = await stat(valuesFile);
  const stamp = `${mtimeMs} ${ino} ${size}`;
  if (before?.stamp === stamp) return before;
  return { stamp, pin: await createValuesFileTarget(valuesFile).readPin() };
}

async function tell(client: PinClient, site: string): Promise<void> {
  try {
    await client.workflow.getHandle(WORKFLOW_IDS.exportSite(site)).signal(SIGNALS.configChanged);
  } catch (error) {
    // A site that was never published has nothing to hold.
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

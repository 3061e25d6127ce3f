import { setTimeout } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Switches } from '../activities/deployments/deployment-target.ts';
import type { FileRead } from '../activities/deployments/disk/messages.ts';
import { diskProcesses } from '../activities/deployments/disk/processes.ts';
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

/** After an operator pins a version or switches a deployment off, Galley notices within this time. */
const EVERY_MS = 5_000;

/** A file system that hangs isn't asked again before this time. */
const HANGS_MS = 5 * 60_000;

type Watched = WatchedFile & { seen?: { stamp: string } & Switches; lookAgainAtMs: number };

/**
 * Signals `configChanged` to a site when an operator sets, changes or removes the pin of one of its values files, or
 * changes `enabled`: the workflow itself reads no file unless one is held or off. Unchanged files only cost a stat. Never
 * throws; a failed signal is repeated.
 */
export async function announcePins(options: AnnouncePinsOptions): Promise<void> {
  const { files, ended, sleep = (ms) => setTimeout(ms, undefined, { ref: false }) } = options;
  const watched: Watched[] = files.map((file) => ({ ...file, lookAgainAtMs: 0 }));
  while (!ended()) {
    // First those that never hung, because a read ends once many files hang.
    const due = watched.filter(({ lookAgainAtMs }) => lookAgainAtMs <= Date.now());
    due.sort((a, b) => a.lookAgainAtMs - b.lookAgainAtMs);
    await look(due, options);
    await sleep(EVERY_MS);
  }
}

async function look(files: readonly Watched[], options: AnnouncePinsOptions): Promise<void> {
  if (files.length === 0) return;
  try {
    const reads = await diskProcesses.valuesFile.read(
      files.map(({ valuesFile, seen }) => ({ path: valuesFile, stamp: seen?.stamp })),
    );
    await Promise.all(files.map((file, index) => compare(file, reads[index], options)));
  } catch (error) {
    options.logger.debug({ error: String(error) }, 'the values files could not be watched');
  }
}

/** A file that doesn't exist yet or is being edited is read again in the next round. */
async function compare(
  file: Watched,
  read: FileRead | undefined,
  { client, logger }: AnnouncePinsOptions,
): Promise<void> {
  if (read === 'hangs') file.lookAgainAtMs = Date.now() + HANGS_MS;
  if (read === undefined || typeof read === 'string' || read.stamp === null) return;
  const { site, valuesFile, seen } = file;
  const { stamp, pin, off } = read;
  try {
    // Announces what was set while no worker ran. The site itself notices what was removed meanwhile.
    if ((seen?.pin ?? null) !== pin || (seen?.off ?? false) !== off) {
      await signalSite(client, site);
      logger.info({ site, valuesFile, pin, off }, "an operator's pin or `enabled` has changed");
    }
    file.seen = { stamp, pin, off };
  } catch (error) {
    logger.debug({ site, valuesFile, error: String(error) }, 'a changed pin could not be announced');
  }
}

async function signalSite(client: PinClient, site: string): Promise<void> {
  try {
    await client.workflow.getHandle(WORKFLOW_IDS.exportSite(site)).signal(SIGNALS.configChanged);
  } catch (error) {
    // A site that was never published has nothing to hold.
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

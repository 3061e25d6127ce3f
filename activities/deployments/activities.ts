import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import type { PinnedFile } from '../../contract/settings.ts';
import { heartbeatWhile } from '../heartbeat.ts';
import type { DeploymentReport, DeploymentTarget, DeploymentWrite } from './deployment-target.ts';
import { ValuesFileError } from './edit-values.ts';
import { createValuesFileTarget } from './values-file.ts';

/** After an operator removes a pin or switches a deployment on, Galley notices within this time. */
const PIN_EVERY_MS = 10_000;

type DeploymentActivityDeps = {
  logger: Logger;
  /** Makes the target of a path; the values file by default. */
  targetOf?: (valuesFile: string) => DeploymentTarget;
};

export function createDeploymentActivities({ logger, targetOf = createValuesFileTarget }: DeploymentActivityDeps) {
  /** Writes in progress by values file, including those whose attempt has timed out. */
  const writing = new Map<string, Promise<DeploymentReport>>();

  /** A hanging file system blocks a thread for each access, and Node has only a few for all files. */
  async function writeAlone(valuesFile: string, write: DeploymentWrite): Promise<DeploymentReport> {
    if (writing.has(valuesFile)) throw new Error('an earlier write has not ended: does its file system hang?');
    const written = targetOf(valuesFile).write(write);
    writing.set(valuesFile, written);
    try {
      return await written;
    } finally {
      writing.delete(valuesFile);
    }
  }

  return {
    /** Writes a link to one deployment. Never logs the link: anyone who has it can read the bundle. */
    async writeDeployment(input: DeploymentWrite & { valuesFile: string }): Promise<DeploymentReport> {
      const { valuesFile, ...write } = input;
      try {
        const report = await heartbeatWhile(() => writeAlone(valuesFile, write));
        const { kind, jobId, sequence } = write;
        logger.info(
          { valuesFile, kind, jobId, sequence, outcome: report.outcome, pin: report.pin },
          'deployment written',
        );
        return report;
      } catch (error) {
        if (!(error instanceof ValuesFileError)) throw error;
        // Only a person can fix the file.
        const message = `${valuesFile}: ${error.message}`;
        throw ApplicationFailure.create({ type: 'InvalidValuesFile', message, nonRetryable: true });
      }
    },

    /**
     * Returns the deployments whose pin or switch has changed. Until then it fails with a benign "PinUnchanged", so
     * that Temporal polls again by its retry policy.
     */
    async waitForPinChange(held: PinnedFile[]): Promise<PinnedFile[]> {
      const now = await Promise.all(held.map(switchesNow));
      const changed = now.filter(
        ({ pin, off }, index) => pin !== held[index]?.pin || off !== (held[index]?.off ?? off),
      );
      if (changed.length > 0) return changed;
      const message = `held: ${held.map(({ valuesFile, pin, off }) => `${valuesFile} ${off ? 'off' : `at ${pin}`}`).join(', ')}`;
      throw ApplicationFailure.create({
        type: 'PinUnchanged',
        message,
        nextRetryDelay: PIN_EVERY_MS,
        category: 'BENIGN',
      });
    },
  };

  async function switchesNow(held: PinnedFile): Promise<PinnedFile> {
    const { valuesFile } = held;
    try {
      return { valuesFile, ...(await targetOf(valuesFile).readSwitches()) };
    } catch (error) {
      // Probably being edited right now: the next poll reads it.
      logger.debug({ valuesFile, error: String(error) }, 'a values file could not be read');
      return held;
    }
  }
}

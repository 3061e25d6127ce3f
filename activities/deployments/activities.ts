import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import type { PinnedFile } from '../../contract/settings.ts';
import { heartbeatWhile } from '../heartbeat.ts';
import type { DeploymentReport, DeploymentTarget, DeploymentWrite } from './deployment-target.ts';
import { ValuesFileError } from './edit-values.ts';
import { createValuesFileTarget } from './values-file.ts';

/** `type` of the failure where only a person can help: the file can't be read or edited. */
export type DeploymentFailureType = 'InvalidValuesFile';

/** An operator who takes a pin away, or switches a deployment on, looks at the result within this time. */
const PIN_EVERY_MS = 10_000;

export type DeploymentActivityDeps = {
  logger: Logger;
  /** Makes the target of a path; the values-file implementation by default. */
  targetOf?: (valuesFile: string) => DeploymentTarget;
};

export function createDeploymentActivities({ logger, targetOf = createValuesFileTarget }: DeploymentActivityDeps) {
  /** Writes that haven't ended, by their values file, also those whose attempt timed out meanwhile. */
  const writing = new Map<string, Promise<DeploymentReport>>();

  /** A file system that hangs holds a thread for each access, and Node has only a few for all files. */
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
    /** Writes a link to one deployment. The link itself is never logged: whoever has it can read the bundle. */
    async writeDeployment(input: DeploymentWrite & { valuesFile: string }): Promise<DeploymentReport> {
      const { valuesFile, ...write } = input;
      try {
        const report = await heartbeatWhile(() => writeAlone(valuesFile, write));
        const { kind, jobId, sequence } = write;
        logger.info({ valuesFile, kind, jobId, sequence, outcome: report.outcome, pin: report.pin }, 'deployment told');
        return report;
      } catch (error) {
        if (!(error instanceof ValuesFileError)) throw error;
        const message = `${valuesFile}: ${error.message}`;
        throw ApplicationFailure.create({ type: 'InvalidValuesFile', message, nonRetryable: true });
      }
    },

    /**
     * Returns the deployments whose pin or switch is no longer as given. Until then it fails with a benign "PinUnchanged", so
     * that Temporal asks again by its retry policy.
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
      // A file in the middle of being edited, most likely. What it says is known when it can be read.
      logger.debug({ valuesFile, error: String(error) }, 'a values file could not be read');
      return held;
    }
  }
}

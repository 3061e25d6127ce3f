import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { heartbeatWhile } from '../heartbeat.ts';
import type { DeploymentReport, DeploymentTarget, DeploymentWrite } from './deployment-target.ts';
import { ValuesFileError } from './edit-values.ts';
import { createValuesFileTarget } from './values-file.ts';

/** `type` of the failure where only a person can help: the file can't be read or edited. */
export type DeploymentFailureType = 'InvalidValuesFile';

/** A deployment and the pin it was last seen with. */
export type PinnedFile = { valuesFile: string; pin: string | null };

/** An operator who takes a pin away looks at the result within this time. */
const PIN_EVERY_MS = 10_000;

export type DeploymentActivityDeps = {
  logger: Logger;
  /** Makes the target of a path; the values-file implementation by default. */
  targetOf?: (valuesFile: string) => DeploymentTarget;
};

export function createDeploymentActivities({ logger, targetOf = createValuesFileTarget }: DeploymentActivityDeps) {
  return {
    /** Writes a link to one deployment. The link itself is never logged: whoever has it can read the bundle. */
    async writeDeployment(input: DeploymentWrite & { valuesFile: string }): Promise<DeploymentReport> {
      const { valuesFile, ...write } = input;
      try {
        const report = await heartbeatWhile(() => targetOf(valuesFile).write(write));
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
     * Returns the deployments whose pin is no longer as given. Until then it fails with a benign "PinUnchanged", so
     * that Temporal asks again by its retry policy.
     */
    async waitForPinChange(held: PinnedFile[]): Promise<PinnedFile[]> {
      const now = await Promise.all(held.map(async ({ valuesFile, pin }) => pinNow(valuesFile, pin)));
      const changed = now.filter(({ pin }, index) => pin !== held[index]?.pin);
      if (changed.length > 0) return changed;
      const message = `held: ${held.map(({ valuesFile, pin }) => `${valuesFile} at ${pin}`).join(', ')}`;
      throw ApplicationFailure.create({
        type: 'PinUnchanged',
        message,
        nextRetryDelay: PIN_EVERY_MS,
        category: 'BENIGN',
      });
    },
  };

  async function pinNow(valuesFile: string, pin: string | null): Promise<PinnedFile> {
    try {
      return { valuesFile, pin: await targetOf(valuesFile).readPin() };
    } catch (error) {
      // A file in the middle of being edited, most likely. What it says is known when it can be read.
      logger.debug({ valuesFile, error: String(error) }, 'the pin could not be read');
      return { valuesFile, pin };
    }
  }
}

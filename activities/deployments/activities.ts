import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { heartbeatWhile } from '../heartbeat.ts';
import type { DeploymentReport, DeploymentTarget, DeploymentWrite } from './deployment-target.ts';
import { ValuesFileError } from './edit-values.ts';
import { createValuesFileTarget } from './values-file.ts';

/** `type` of the failure where only a person can help: the file can't be read or edited. */
export type DeploymentFailureType = 'InvalidValuesFile';

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
  };
}

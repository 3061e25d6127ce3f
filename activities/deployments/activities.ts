import { Context } from '@temporalio/activity';
import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { backoff } from '../../base/backoff.ts';
import { errorText } from '../../base/error-code.ts';
import type { TargetConfig } from '../../contract/deployment-config.ts';
import { TARGETS, type TargetKind } from '../../contract/target-kind.ts';
import { heartbeatWhile } from '../heartbeat.ts';
import type { ReadSite } from '../sites/read-site.ts';
import { createTarget, type TargetDeps } from './create-target.ts';
import type { DeploymentReport, DeploymentWrite } from './deployment-target.ts';
import type { DiskTarget } from './disk/messages.ts';
import { diskProcesses } from './disk/processes.ts';
import { ValuesFileError } from './edit-values.ts';
import { findTarget } from './find-target.ts';
import { createSwitchActivities } from './switch-activities.ts';

/** A pull request can wait for days: the polls get rarer until then. */
const PROPOSAL_DELAY_MS = backoff({ firstMs: 60_000, maxMs: 300_000, factor: 1.1 });
/** A forge or repository that doesn't answer must not hold a slot for long. */
const READ_TIMEOUT_MS = 20_000;

type DeploymentActivityDeps = {
  logger: Logger;
  readSite: ReadSite;
  /** What targets other than values files need. */
  targets?: TargetDeps | undefined;
};

/** `targetKind` is missing for a values file that any worker can write, whose name is its path. */
export type WriteDeploymentInput = DeploymentWrite & { valuesFile: string; targetKind?: TargetKind | undefined };

/** `epoch` and `sequence` are those of the write's report. */
type CheckProposalInput = Pick<DeploymentWrite, 'site' | 'epoch' | 'sequence'> & { valuesFile: string };

export function createDeploymentActivities(deps: DeploymentActivityDeps) {
  const { logger, readSite, targets } = deps;
  /** Writes in progress by deployment, including those whose attempt has timed out. */
  const writing = new Map<string, Promise<DeploymentReport>>();

  async function writeAlone(input: WriteDeploymentInput): Promise<DeploymentReport> {
    // Sites may share a deploy hook.
    const key = `${input.site} ${input.valuesFile}`;
    if (writing.has(key)) throw new Error('an earlier write has not ended');
    const written = write(input, Context.current().cancellationSignal);
    writing.set(key, written);
    try {
      return await written;
    } finally {
      writing.delete(key);
    }
  }

  async function write(
    { valuesFile, targetKind, ...write }: WriteDeploymentInput,
    signal: AbortSignal,
  ): Promise<DeploymentReport> {
    const { site } = write;
    const target = await findTarget(readSite, valuesFile, targetKind === undefined ? undefined : site);
    if (!isOnDisk(target)) return await createTarget(valuesFile, target, targets).write(write, { site, signal });
    const { createUnder, signer } = targets ?? {};
    return await diskProcesses[target.kind].write({ target, write, createUnder }, { signal, signer });
  }

  return {
    /** Writes a link to one deployment. Never logs the link: anyone who has it can read the bundle. */
    async writeDeployment(input: WriteDeploymentInput): Promise<DeploymentReport> {
      const { valuesFile, kind, jobId, sequence } = input;
      try {
        const { warning, ...report } = await heartbeatWhile(() => writeAlone(input));
        if (warning !== undefined) logger.warn({ valuesFile, warning }, 'the values file should be repaired');
        logger.info(
          { valuesFile, kind, jobId, sequence, outcome: report.outcome, pin: report.pin },
          'deployment written',
        );
        return report;
      } catch (error) {
        const { cancellationSignal } = Context.current();
        // So it ends as canceled, not as failed.
        if (cancellationSignal.aborted) throw cancellationSignal.reason;
        const message = messageWithPath(valuesFile, error);
        // Only a person can fix the file.
        if (error instanceof ValuesFileError) {
          throw ApplicationFailure.create({ type: 'InvalidValuesFile', message, nonRetryable: true });
        }
        throw input.targetKind === undefined && !(error instanceof TemporalFailure) ? new Error(message) : error;
      }
    },

    ...createSwitchActivities({ logger, readSite, targets }),

    /**
     * Returns what became of a write that was `proposed`, once its pull request is merged or closed. Until then it fails
     * with a benign "ProposalOpen", so that Temporal polls again by its retry policy.
     */
    checkProposal: (input: CheckProposalInput) => checkProposal(deps, input),
  };
}

/** Names the path once: errors of the file system end with it, those of a rename twice. */
function messageWithPath(path: string, error: unknown): string {
  const message = errorText(error);
  const text = message.includes(path) ? message.replace(/, \w+ '.*$/s, '') : message;
  return text.includes(path) ? text : `${path}: ${text}`;
}

function isOnDisk(target: TargetConfig): target is DiskTarget {
  return TARGETS[target.kind].isOnDisk;
}

async function checkProposal(
  deps: DeploymentActivityDeps,
  { site, valuesFile, epoch, sequence }: CheckProposalInput,
): Promise<'merged' | 'closed'> {
  const { cancellationSignal, info } = Context.current();
  const signal = AbortSignal.any([cancellationSignal, AbortSignal.timeout(READ_TIMEOUT_MS)]);
  let message = 'the pull request is open';
  try {
    const target = createTarget(valuesFile, await findTarget(deps.readSite, valuesFile, site), deps.targets);
    const state = await target.readProposal?.({ epoch, sequence }, { site, signal });
    if (state === 'merged' || state === 'closed') return state;
  } catch (error) {
    // The forge or the repository may be away: the next poll reads it.
    if (error instanceof ApplicationFailure) throw error;
    message = `the pull request can't be read: ${errorText(error)}`;
  }
  const nextRetryDelay = deps.targets?.proposalsEveryMs ?? PROPOSAL_DELAY_MS(info.attempt);
  throw ApplicationFailure.create({ type: 'ProposalOpen', message, nextRetryDelay, category: 'BENIGN' });
}

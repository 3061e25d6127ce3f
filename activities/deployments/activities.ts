import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { errorText, isSystemError } from '../../base/error-code.ts';
import {
  type DeploymentConfig,
  deploymentName,
  type TargetConfig,
  targetOf,
} from '../../contract/deployment-config.ts';
import type { PinnedFile } from '../../contract/settings.ts';
import type { TargetKind } from '../../contract/target-kind.ts';
import { heartbeatWhile } from '../heartbeat.ts';
import { notConfigured } from '../not-configured.ts';
import type { ReadSite } from '../sites/read-site.ts';
import { createTarget, type TargetDeps } from './create-target.ts';
import type { DeploymentReport, DeploymentWrite } from './deployment-target.ts';
import { ValuesFileError } from './edit-values.ts';

/** After an operator changes a pin or a switch, Galley notices within this time. */
const FILE_EVERY_MS = 10_000;
/** The same for a repository or a release, which each poll asks over the network. */
const REMOTE_EVERY_MS = 30_000;

/** A repository or cluster that doesn't answer must not hold a slot for long. */
const READ_TIMEOUT_MS = 20_000;

type DeploymentActivityDeps = {
  logger: Logger;
  readSite: ReadSite;
  /** What targets other than values files need. */
  targets?: TargetDeps | undefined;
};

/** `targetKind` is missing for a values file that any worker can write, whose name is its path. */
export type WriteDeploymentInput = DeploymentWrite & { valuesFile: string; targetKind?: TargetKind | undefined };

export function createDeploymentActivities(deps: DeploymentActivityDeps) {
  const { logger, targets } = deps;
  /** Writes in progress by deployment, including those whose attempt has timed out. */
  const writing = new Map<string, Promise<DeploymentReport>>();

  /** A hanging file system blocks a thread for each access, and Node has only a few for all files. */
  async function writeAlone({ valuesFile, targetKind, ...write }: WriteDeploymentInput) {
    const { site } = write;
    // Sites may share a deploy hook.
    const key = `${site} ${valuesFile}`;
    const signal = Context.current().cancellationSignal;
    if (writing.has(key)) throw new Error('an earlier write has not ended: does its file system hang?');
    const written = openTarget(deps, valuesFile, targetKind === undefined ? undefined : site).then(({ target }) =>
      target.write(write, { site, signal }),
    );
    writing.set(key, written);
    try {
      return await written;
    } finally {
      writing.delete(key);
    }
  }

  return {
    /** Writes a link to one deployment. Never logs the link: anyone who has it can read the bundle. */
    async writeDeployment(input: WriteDeploymentInput): Promise<DeploymentReport> {
      const { valuesFile, targetKind, kind, jobId, sequence } = input;
      try {
        const report = await heartbeatWhile(() => writeAlone(input));
        logger.info(
          { valuesFile, kind, jobId, sequence, outcome: report.outcome, pin: report.pin },
          'deployment written',
        );
        return report;
      } catch (error) {
        const message = messageWithPath(valuesFile, error);
        // Only a person can fix the file.
        if (error instanceof ValuesFileError) {
          throw ApplicationFailure.create({ type: 'InvalidValuesFile', message, nonRetryable: true });
        }
        throw targetKind === undefined && isSystemError(error) ? new Error(message) : error;
      }
    },

    /**
     * Returns the deployments whose pin or switch has changed. Until then it fails with a benign "PinUnchanged", so
     * that Temporal polls again by its retry policy.
     * @param site of the deployments, if their names aren't paths
     */
    async waitForPinChange(held: PinnedFile[], site?: string): Promise<PinnedFile[]> {
      const signal = AbortSignal.any([Context.current().cancellationSignal, AbortSignal.timeout(READ_TIMEOUT_MS)]);
      const polls = await Promise.all(held.map((file) => pollSwitches(file, { site, signal })));
      const changed = polls
        .map(({ now }) => now)
        .filter(({ pin, off }, index) => pin !== held[index]?.pin || off !== held[index]?.off);
      if (changed.length > 0) return changed;
      throw pinUnchanged(held, Math.max(...polls.map(({ everyMs }) => everyMs)));
    },
  };

  async function pollSwitches(
    held: PinnedFile,
    { site, signal }: { site: string | undefined; signal: AbortSignal },
  ): Promise<{ now: PinnedFile; everyMs: number }> {
    const { valuesFile } = held;
    let everyMs = FILE_EVERY_MS;
    try {
      const { kind, target } = await openTarget(deps, valuesFile, site);
      if (kind !== 'valuesFile') everyMs = targets?.remotePinsEveryMs ?? REMOTE_EVERY_MS;
      const now = target.readSwitches === undefined ? held : { valuesFile, ...(await target.readSwitches(signal)) };
      return { now, everyMs };
    } catch (error) {
      // Probably being edited, or away, right now: the next poll reads it.
      logger.debug({ valuesFile, error: String(error) }, 'the pin of a deployment could not be read');
      return { now: held, everyMs };
    }
  }
}

/** Names the path once: errors of the file system end with it, those of a rename twice. */
function messageWithPath(path: string, error: unknown): string {
  const message = errorText(error);
  const text = message.includes(path) ? message.replace(/, \w+ '.*$/s, '') : message;
  return text.includes(path) ? text : `${path}: ${text}`;
}

/** @param site undefined: the name is the path of a values file that any worker can write */
async function openTarget({ readSite, targets }: DeploymentActivityDeps, name: string, site: string | undefined) {
  const target: TargetConfig =
    site === undefined ? { kind: 'valuesFile', settings: name } : targetOf(await findEntry(readSite, site, name));
  return { kind: target.kind, target: createTarget(name, target, targets) };
}

/** A benign failure, after which Temporal polls again. */
function pinUnchanged(held: PinnedFile[], nextRetryDelay: number): ApplicationFailure {
  const message = `unchanged: ${held.map(({ valuesFile, pin, off }) => `${valuesFile} ${off ? 'off' : `at ${pin}`}`).join(', ')}`;
  return ApplicationFailure.create({ type: 'PinUnchanged', message, nextRetryDelay, category: 'BENIGN' });
}

async function findEntry(readSite: ReadSite, site: string, name: string): Promise<DeploymentConfig> {
  const config = await readSite(site);
  const entry = config?.export.deployments.find((each) => deploymentName(each) === name);
  if (entry === undefined) throw notConfigured(`the deployment ${name} of the site ${site}`);
  return entry;
}

import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import type { TargetConfig } from '../../contract/deployment-config.ts';
import type { PinnedFile } from '../../contract/settings.ts';
import type { ReadSite } from '../sites/read-site.ts';
import { createTarget, type TargetDeps } from './create-target.ts';
import type { FileRead } from './disk/messages.ts';
import { diskProcesses } from './disk/processes.ts';
import { findTarget } from './find-target.ts';

/** After an operator changes a pin or a switch, Galley notices within this time. */
const FILE_EVERY_MS = 10_000;
/** The same for a repository or a release, which each poll asks over the network. */
const REMOTE_EVERY_MS = 30_000;

/** A repository or cluster that doesn't answer must not hold a slot for long. */
const READ_TIMEOUT_MS = 20_000;

type SwitchActivityDeps = {
  logger: Logger;
  readSite: ReadSite;
  targets?: TargetDeps | undefined;
};

/** Null: it is probably being edited, or away, right now. */
type Poll = { now: PinnedFile | null; everyMs: number };

/** Activities that read what operators set in deployments. `site` is missing if the names are paths of values files. */
export function createSwitchActivities(deps: SwitchActivityDeps) {
  return {
    /** Returns the pins and switches of these deployments, without those that can't be read. */
    async readSwitches(names: string[], site?: string): Promise<PinnedFile[]> {
      return (await pollAll(deps, names, site)).flatMap(({ now }) => now ?? []);
    },

    /**
     * Returns the deployments whose pin or switch has changed. Until then it fails with a benign "PinUnchanged", so
     * that Temporal polls again by its retry policy.
     */
    async waitForPinChange(held: PinnedFile[], site?: string): Promise<PinnedFile[]> {
      const names = held.map(({ valuesFile }) => valuesFile);
      const polls = await pollAll(deps, names, site);
      const changed = polls.flatMap(({ now }, index) =>
        now !== null && (now.pin !== held[index]?.pin || now.off !== held[index]?.off) ? [now] : [],
      );
      if (changed.length > 0) return changed;
      throw pinUnchanged(held, Math.max(...polls.map(({ everyMs }) => everyMs)));
    },
  };
}

/** In the order of the names. */
async function pollAll(deps: SwitchActivityDeps, names: readonly string[], site: string | undefined): Promise<Poll[]> {
  const signal = AbortSignal.any([Context.current().cancellationSignal, AbortSignal.timeout(READ_TIMEOUT_MS)]);
  const targets = await Promise.all(names.map((name) => findTarget(deps.readSite, name, site).catch(() => null)));
  const paths = targets.flatMap((target) => (target?.kind === 'valuesFile' ? [target.settings] : []));
  const reads = paths.length === 0 ? [] : await diskProcesses.valuesFile.read(paths.map((path) => ({ path })));
  const readOf = new Map(paths.map((path, index) => [path, reads[index]]));
  return await Promise.all(
    names.map(async (name, index): Promise<Poll> => {
      const target = targets[index] ?? null;
      if (target?.kind === 'valuesFile') {
        return { now: switchesOf(name, readOf.get(target.settings)), everyMs: FILE_EVERY_MS };
      }
      const everyMs = deps.targets?.remotePinsEveryMs ?? REMOTE_EVERY_MS;
      return { now: target && (await readRemote(deps, name, target, signal)), everyMs };
    }),
  );
}

function switchesOf(valuesFile: string, read: FileRead | undefined): PinnedFile | null {
  if (read === undefined || typeof read === 'string') return null;
  const { pin, off } = read;
  return { valuesFile, pin, off };
}

async function readRemote(
  { logger, targets }: SwitchActivityDeps,
  valuesFile: string,
  target: TargetConfig,
  signal: AbortSignal,
): Promise<PinnedFile | null> {
  try {
    const switches = await createTarget(valuesFile, target, targets).readSwitches?.(signal);
    return switches === undefined ? null : { valuesFile, ...switches };
  } catch (error) {
    logger.debug({ valuesFile, error: String(error) }, 'the pin of a deployment could not be read');
    return null;
  }
}

/** A benign failure, after which Temporal polls again. */
function pinUnchanged(held: PinnedFile[], nextRetryDelay: number): ApplicationFailure {
  const message = `unchanged: ${held.map(({ valuesFile, pin, off }) => `${valuesFile} ${off ? 'off' : `at ${pin}`}`).join(', ')}`;
  return ApplicationFailure.create({ type: 'PinUnchanged', message, nextRetryDelay, category: 'BENIGN' });
}

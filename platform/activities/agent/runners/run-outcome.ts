import { constants } from 'node:os';
import { formatDurationMs } from '../../../../contract/duration.ts';
import type { AgentOutcome } from '../agent-runner.ts';
import type { ContainedEnd } from './contained-run.ts';
import type { RunnerLimits } from './runner-limits.ts';

/**
 * A run's outcome for the job's owner.
 * @param exitSentences meanings of this command's exit codes; others are described as a shell does.
 * @throws Error if the agent was never started: a retry or another worker may succeed.
 */
export function outcomeOf(
  { report, endedBy, stderr }: ContainedEnd,
  limits: RunnerLimits,
  exitSentences: Readonly<Record<number, string>> = {},
): AgentOutcome {
  const { ending } = report;
  if (ending?.kind === 'broken' || !report.ready) {
    if (ending?.kind === 'failed' && ending.why === 'full') return failed(sentenceOf('full', '', limits));
    const reason = ending?.kind === 'broken' ? ending.detail : stderr;
    throw new Error(`The agent's checkout could not be made${reason === '' ? '' : `: ${reason}`}`);
  }
  if (endedBy === 'time') {
    return failed(`The agent was ended: it ran longer than ${formatDurationMs(limits.timeoutMs)}, its time limit.`);
  }
  if (endedBy === 'output') {
    return failed(`The agent was ended: it printed more than ${formatBytes(limits.outputLimitBytes)}, its limit.`);
  }
  if (endedBy === 'stuck') return failed("The agent's files could not be stored in time.");
  if (ending?.kind === 'failed') return failed(sentenceOf(ending.why, ending.detail, limits));
  if (report.exitCode === null) {
    return failed('The agent was ended by the machine, perhaps because its memory ran out.');
  }
  if (report.exitCode !== 0) return failed(exitSentences[report.exitCode] ?? describeExit(report.exitCode));
  if (ending === null) return failed("The agent's files could not be stored: the machine ended the storing.");
  return ending;
}

function failed(error: string): AgentOutcome {
  return { kind: 'failed', error };
}

/** A shell's exit codes that have a meaning of their own. */
function describeExit(code: number): string {
  if (code === 126 || code === 127) return `The agent's command could not be started (exit code ${code}).`;
  const [signal] = Object.entries(constants.signals).find(([, number]) => code === 128 + number) ?? [];
  return signal === undefined
    ? `The agent ended with exit code ${code}.`
    : `The agent ended with exit code ${code}, which stands for ${signal}.`;
}

function sentenceOf(why: string, detail: string, limits: RunnerLimits): string {
  switch (why) {
    case 'full':
      return `The agent's scratch disk of ${formatBytes(limits.scratchSizeBytes)} is full.`;
    case 'gone':
      return 'The agent removed its own checkout.';
    case 'large':
      return `The agent's change is larger than ${formatBytes(limits.changeLimitBytes)}, its limit.`;
    case 'processes':
      return 'The processes that the agent left behind could not be ended.';
    default:
      return `The agent's files can't be stored by git${detail === '' ? '.' : `: ${detail}`}`;
  }
}

/** Formats bytes in the largest unit that divides them: 1048576 → `1 MiB`. */
function formatBytes(bytes: number): string {
  const units = ['GiB', 'MiB', 'KiB'];
  const index = units.findIndex((_, at) => bytes >= 1024 ** (3 - at) && bytes % 1024 ** (3 - at) === 0);
  return index === -1 ? `${bytes} bytes` : `${bytes / 1024 ** (3 - index)} ${units[index]}`;
}

import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
} from '@temporalio/workflow';
import type { PublishEvent } from '../contract/publish-event.ts';
import type { RuleSettings } from '../contract/settings.ts';
import { changeMemory, freshChangeMemory } from './agent-change/change-memory.ts';
import { type ChangeRun, newChangeRun, sourceOf } from './agent-change/change-run.ts';
import { endCancelled, tellEnd } from './agent-change/ending.ts';
import { submit, waitForJob } from './agent-change/job.ts';
import { answerMessages } from './agent-change/messages.ts';
import { endBackOff } from './agent-change/patience.ts';
import { presenceOf } from './agent-change/presence.ts';
import { review } from './agent-change/review.ts';
import { isOtherBuild } from './coroutines/builds.ts';
import { isLong } from './coroutines/continuing.ts';
import { runUntil } from './coroutines/run-until.ts';
import { rereadSettings, watchSettings } from './settings/read-settings.ts';

export type AgentChangeInput = {
  site: string;
  rule: string;
  /** What the agent is prompted with, oldest first, and how many events there were in all. */
  events: PublishEvent[];
  eventCount: number;
  /** The rule's settings as the rule knew them. They stay in force until a worker tells newer ones. */
  settings?: RuleSettings | null;
  /** What the last run of the chain handed over (agent-change/change-memory.ts). A first start has none. */
  carry?: unknown;
};

/**
 * One change by an agent, from the prompt to the end of its pull request: the job is made and waited for, the reviewers
 * are asked and reminded, and the workflow ends when the pull request is merged or closed, or nobody is expected to
 * review it any more. A failed job fails the workflow, after the operators were told; every other end completes it, and
 * the state says which one it was.
 *
 * A change may live through releases: see export-site.ts for how its commands may change.
 */
export async function agentChange(input: AgentChangeInput): Promise<void> {
  const run = newChangeRun(
    input,
    input.carry === undefined ? freshChangeMemory(input, Date.now()) : changeMemory.parse(input.carry),
  );
  const presence = presenceOf(run);
  // Before the first await: signals that came with the start, or while the last run ended, are taken in first.
  answerMessages(run);
  try {
    await rereadSettings(sourceOf(run));
    await runUntil(
      [() => liveOn(run), () => watchSettings(sourceOf(run), () => endBackOff(run.memory)), () => presence.show()],
      () => run.done || run.cancelRequested || (mustContinue(run) && canContinue(run)),
    );
    // Who cancels waits for the end of this run: it can't be left to the next one.
    if (!run.done) await condition(() => run.cancelRequested || allHandlersFinished());
    if (!run.done && !run.cancelRequested) return await continueInNewRun(run);
    if (!run.done) await endCancelled(run);
    // While what was under way came to its end, the pull request may have been merged after all.
    if (!run.done) await tellEnd(run);
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(() => endCancelled(run));
    presence.update();
    throw error;
  }
  run.done = true;
  presence.update();
  await condition(allHandlersFinished);
  const { phase, error } = run.memory;
  if (phase === 'failed') throw ApplicationFailure.nonRetryable(firstLine(error), 'AgentJobFailed');
}

/** Failures are logged, and what follows in a job's error is what the agent printed: that stays in the state. */
function firstLine(error: string | null): string {
  return error?.split('\n', 1)[0] || 'the agent job failed';
}

/** Takes the change from wherever it stands to its end. */
async function liveOn(run: ChangeRun): Promise<void> {
  if (run.memory.settings === null && !run.removed) await condition(() => run.memory.settings !== null);
  for (;;) {
    switch (run.memory.phase) {
      case 'prompting':
        await submit(run);
        break;
      case 'working':
        await waitForJob(run);
        break;
      case 'notifying':
      case 'in-review':
        await review(run);
        break;
      default:
        await tellEnd(run);
        run.done = true;
        return;
    }
  }
}

function mustContinue(run: ChangeRun): boolean {
  return run.buildChanged || isOtherBuild(run.build) || isLong();
}

/** A mail that is being sent, or a job that is being made, is never left in the middle. */
function canContinue(run: ChangeRun): boolean {
  return run.callsUnderWay === 0 && allHandlersFinished();
}

async function continueInNewRun({ site, rule, memory }: ChangeRun): Promise<never> {
  const { events, eventCount } = memory;
  return await continueAsNew<typeof agentChange>({ site, rule, events: events.slice(-1), eventCount, carry: memory });
}

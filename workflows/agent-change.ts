import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  isCancellation,
  setHandler,
} from '@temporalio/workflow';
import type { AgentChangeState } from '../contract/agent-state.ts';
import { QUERIES, SIGNALS, UPDATES } from '../contract/names.ts';
import type { PublishEvent } from '../contract/publish-event.ts';
import {
  type PullRequestChanged,
  pullRequestChanged as pullRequestChangedPayload,
  type Reviewed,
  reviewed as reviewedPayload,
} from '../contract/pull-request-event.ts';
import type { RuleSettings } from '../contract/settings.ts';
import { endCancelled, notifyEnd, signalPhase } from './agent-change/end.ts';
import { applyPullRequestEvent } from './agent-change/events.ts';
import { stopFollowUp } from './agent-change/follow-ups.ts';
import { submit, waitForJob } from './agent-change/job.ts';
import { awaitReopening, awaitReview } from './agent-change/review.ts';
import { type ChangeRun, isOver, newRun, newState, restoreState } from './agent-change/state.ts';
import { endBackOff, reportUnconfigured } from './agent-change/transitions.ts';
import { changeStateOf, visibilityOf } from './agent-change/visibility.ts';
import { readRule } from './agent-rule/configuration.ts';
import { rereadSettings, type SettingsSource, watchSettings } from './entity/configuration.ts';
import { shouldContinueAsNew } from './entity/continue-as-new.ts';
import { handleSignal, runUntil } from './entity/coroutines.ts';
import { watchOutbox } from './notifications/outbox.ts';

type AgentChangeInput = {
  site: string;
  rule: string;
  /** The newest events, oldest first, for the prompt. */
  events: PublishEvent[];
  /** The number of all events. */
  eventCount: number;
  /** The rule's settings, in force until a worker returns newer ones. */
  settings: RuleSettings;
  /** The previous run's state; missing in the first run. */
  carry?: unknown;
};

const pullRequestChanged = defineSignal<[PullRequestChanged]>(SIGNALS.pullRequestChanged);
const reviewed = defineSignal<[Reviewed]>(SIGNALS.reviewed);
const configChanged = defineSignal(SIGNALS.configChanged);
const getState = defineQuery<AgentChangeState>(QUERIES.state);
const cancel = defineUpdate<AgentChangeState>(UPDATES.cancel);

/**
 * One change by an agent: creates a job, waits for its pull request, requests and reminds of reviews, and ends when the
 * pull request is merged or the review expires. If it is closed, it may be reopened until then. The workflow fails if the job failed, after the operators were
 * notified. Every other end completes it, and the state says which one it was.
 */
export async function agentChange(input: AgentChangeInput): Promise<void> {
  const run = newRun(input, input.carry === undefined ? newState(input, Date.now()) : restoreState(input.carry));
  const visibility = visibilityOf(run);
  // Before the first await, so that no signal is handled later than what the flow does.
  setHandlers(run);
  try {
    await rereadSettings(settingsSource(run));
    await runUntil(
      [
        () => runPhases(run),
        () => watchSettings(settingsSource(run), () => endBackOff(run.state)),
        () => visibility.watch(),
        () => watchOutbox(run),
      ],
      () => run.done || run.cancelRequested || (shouldContinueAsNew(run) && canContinueAsNew(run)),
    );
    // An update `cancel` is answered in this run: it can't be left to the next one.
    if (!run.done) await condition(() => run.cancelRequested || allHandlersFinished());
    if (!run.done && !run.cancelRequested) return await continueInNewRun(run);
    if (!run.done) await endCancelled(run);
    // The pull request may have been merged at the last moment.
    if (!run.done) await notifyEnd(run);
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(() => endCancelled(run));
    visibility.update();
    throw error;
  }
  run.done = true;
  visibility.update();
  await condition(allHandlersFinished);
  const { phase, error } = run.state;
  if (phase === 'failed') throw ApplicationFailure.nonRetryable(firstLine(error), 'AgentJobFailed');
}

function settingsSource(run: ChangeRun): SettingsSource<RuleSettings> {
  return { ...readRule(run), run, reportMissing: ({ message }) => reportUnconfigured(run.state, message) };
}

function setHandlers(run: ChangeRun): void {
  const { state } = run;
  handleSignal(pullRequestChanged, pullRequestChangedPayload, 'The pull request changed on the forge.', (event) =>
    applyPullRequestEvent(state, event),
  );
  handleSignal(reviewed, reviewedPayload, 'Someone reviewed the pull request.', (event) =>
    applyPullRequestEvent(state, event),
  );
  const reread = (): void => {
    run.configChanged = true;
  };
  setHandler(configChanged, reread, { description: 'Reads the settings of the rule again.' });
  setHandler(getState, () => changeStateOf(run), { description: 'The change, from the prompt to the end.' });
  setHandler(
    cancel,
    async () => {
      run.cancelRequested = true;
      await condition(() => run.done);
      return changeStateOf(run);
    },
    {
      description: 'Ends the change and cancels a running job. An open pull request stays open.',
      validator() {
        const { phase } = state;
        if (isOver(phase)) throw ApplicationFailure.nonRetryable(`the change is over: ${phase}`, 'Refused');
      },
    },
  );
}

/** Runs the change from its present phase to its end. */
async function runPhases(run: ChangeRun): Promise<void> {
  for (;;) {
    switch (run.state.phase) {
      case 'prompting':
        await submit(run);
        break;
      case 'working':
        await waitForJob(run);
        break;
      case 'notifying':
      case 'in-review':
        await awaitReview(run);
        await stopFollowUp(run);
        break;
      case 'closed':
        await notifyEnd(run);
        if (await awaitReopening(run)) {
          await signalPhase(run);
          break;
        }
        run.done = true;
        return;
      default:
        await notifyEnd(run);
        run.done = true;
        return;
    }
  }
}

/** No job is being created and no mail is being sent. */
function canContinueAsNew(run: ChangeRun): boolean {
  return run.callsInProgress === 0 && allHandlersFinished();
}

async function continueInNewRun({ site, rule, state }: ChangeRun): Promise<never> {
  const { events, eventCount, settings } = state;
  const newest = events.slice(-1);
  return await continueAsNew<typeof agentChange>({ site, rule, events: newest, eventCount, settings, carry: state });
}

/** Workflow failures are logged, so the agent's output on the further lines stays in the state. */
function firstLine(error: string | null): string {
  return error?.split('\n', 1)[0] || 'the agent job failed';
}

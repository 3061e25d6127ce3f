import {
  ApplicationFailure,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  log,
  setHandler,
} from '@temporalio/workflow';
import type { AgentChangeState } from '../../contract/agent-state.ts';
import { QUERIES, SIGNALS, UPDATES } from '../../contract/names.ts';
import {
  type PullRequestChanged,
  pullRequestChanged as pullRequestChangedPayload,
  type Reviewed,
  reviewed as reviewedPayload,
} from '../../contract/pull-request-event.ts';
import type { ChangeRun } from './change-run.ts';
import { takeNews } from './news.ts';
import { isOver } from './phase.ts';
import { changeStateOf } from './presence.ts';

export const pullRequestChanged = defineSignal<[PullRequestChanged]>(SIGNALS.pullRequestChanged);
export const reviewed = defineSignal<[Reviewed]>(SIGNALS.reviewed);
export const configChanged = defineSignal(SIGNALS.configChanged);
export const state = defineQuery<AgentChangeState>(QUERIES.state);
/** Ends the change, and its job where that still runs. A pull request that is there already stays. */
export const cancel = defineUpdate<AgentChangeState>(UPDATES.cancel);

/** Sets the handlers. Nothing here may wait before every handler is set. */
export function answerMessages(run: ChangeRun): void {
  const { memory } = run;
  // Somebody's own signal, misspelled: throwing would stop the whole workflow until it is taken out of the history.
  const ignored = (signal: string): void => log.warn(`a signal "${signal}" of another shape was ignored`);

  setHandler(pullRequestChanged, (signal: unknown) => {
    const parsed = pullRequestChangedPayload.safeParse(signal);
    if (parsed.success) takeNews(memory, parsed.data);
    else ignored(SIGNALS.pullRequestChanged);
  });
  setHandler(reviewed, (signal: unknown) => {
    const parsed = reviewedPayload.safeParse(signal);
    if (parsed.success) takeNews(memory, parsed.data);
    else ignored(SIGNALS.reviewed);
  });
  setHandler(configChanged, () => {
    run.configChanged = true;
  });
  setHandler(state, () => changeStateOf(run));
  setHandler(
    cancel,
    async () => {
      run.cancelRequested = true;
      await condition(() => run.done);
      return changeStateOf(run);
    },
    {
      validator: () => {
        if (isOver(memory.phase))
          throw ApplicationFailure.nonRetryable(`the change is over: ${memory.phase}`, 'Refused');
      },
    },
  );
}

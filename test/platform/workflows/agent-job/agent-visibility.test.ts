import { ActivityFailure, ApplicationFailure, CancelledFailure, TimeoutFailure } from '@temporalio/common';
import { agentDetails } from '../../../../platform/workflows/agent-job/agent-visibility.ts';
import { agentFailureText } from '../../../../platform/workflows/failures.ts';

const failed = (cause: Error) => new ActivityFailure('failed', 'runAgent', '1', 'NON_RETRYABLE_FAILURE', 'x', cause);

describe('the error of a failed agent job', () => {
  it.each([
    [failed(ApplicationFailure.nonRetryable('The repository is empty', 'AgentImpossible')), 'The repository is empty'],
    [failed(ApplicationFailure.retryable("It can't be reached", 'AgentTrouble')), "It can't be reached"],
    [failed(new CancelledFailure('stop')), 'cancelled'],
    [new CancelledFailure('stop'), 'cancelled'],
    [failed(ApplicationFailure.nonRetryable('select secret from rows', 'QueryError')), /internal error/],
    [failed(new TimeoutFailure('heartbeat', undefined, 'HEARTBEAT')), /internal error/],
    [new Error('a fault of ours'), /internal error/],
  ])('for %p', (error, text) => {
    expect(agentFailureText(error)).toMatch(text);
  });
});

describe('the current details of a run', () => {
  it('contain the repository, branch, message number, stage and pull request', () => {
    const visibility = { repository: 'https://forge.example/a/b', branch: 'galley/aj_1', run: 1, stage: 'pushing' };
    expect(agentDetails(visibility)).toBe('**https://forge.example/a/b**, branch `galley/aj_1`\n\npushing');
    expect(agentDetails({ ...visibility, run: 3, prLink: 'https://forge.example/a/b/pulls/4' })).toBe(
      '**https://forge.example/a/b**, branch `galley/aj_1`, message 2\n\npushing\n\nhttps://forge.example/a/b/pulls/4',
    );
  });
});

import { ActivityFailure, ApplicationFailure, CancelledFailure, TimeoutFailure } from '@temporalio/common';
import { escapeMarkdown } from '../../../../contract/details-markdown.ts';
import { agentDetails } from '../../../../platform/workflows/agent-job/agent-visibility.ts';
import { agentFailureText } from '../../../../platform/workflows/failures.ts';
import { jobDetails } from '../../../../platform/workflows/static-export-job/export-visibility.ts';

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
    const visibility = { repository: 'https://forge.example/a/b', branch: 'galley/aj1', run: 1, stage: 'pushing' };
    expect(agentDetails(visibility)).toBe('**https://forge.example/a/b**, branch galley/aj1\n\npushing');
    expect(agentDetails({ ...visibility, run: 3, prLink: 'https://forge.example/a/b/pulls/4' })).toBe(
      '**https://forge.example/a/b**, branch galley/aj1, message 2\n\npushing\n\n' +
        '[Pull request](https://forge.example/a/b/pulls/4)',
    );
  });

  it('contain text from outside as text', () => {
    const text = '**[x](https://evil.example)** <img src=x>';
    const escaped = escapeMarkdown(text);
    const agent = agentDetails({ repository: text, branch: text, run: 1, stage: 'pushing', prLink: text });
    expect(agent.split(escaped)).toHaveLength(4);
    expect(jobDetails({ domain: text, version: text, stage: 'crawling' }).split(escaped)).toHaveLength(3);
  });

  it('contain the domain, version, stage and counts of an export', () => {
    const visibility = { domain: 'docs.example.com', version: '2', stage: 'rewriting' };
    expect(jobDetails(visibility)).toBe('**docs.example.com**, version 2\n\nrewriting');
    expect(jobDetails({ ...visibility, pageCount: 3, urlCount: 5 })).toMatch(/rewriting\n\n3 pages, 5 URLs$/);
  });
});

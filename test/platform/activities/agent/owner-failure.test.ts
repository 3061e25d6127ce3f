import { ForgeError } from '../../../../forge/forge-error.ts';
import { GitError } from '../../../../forge/git/git-error.ts';
import { ownerFailure } from '../../../../platform/activities/agent/owner-failure.ts';

const told = (error: unknown) => ownerFailure(error, ['hunter2']);

describe('the failure that the owner of a job sees', () => {
  it('is what the forge refused, without secrets, and is not tried again if that is no use', () => {
    expect(told(new ForgeError('the token hunter2 lacks rights', { status: 403, retryable: false }))).toMatchObject({
      type: 'AgentImpossible',
      nonRetryable: true,
      message: 'The forge refused: the token *** lacks rights',
    });
  });

  it.each([
    [7_000, 7_000],
    [86_400_000, 3_600_000],
  ])('is tried again after the %i ms that the forge names, an hour at most', (retryAfterMs, nextRetryDelay) => {
    const error = new ForgeError('slow down', { status: 429, retryable: true, retryAfterMs });
    expect(told(error)).toMatchObject({ type: 'AgentTrouble', nonRetryable: false, nextRetryDelay });
  });

  it('is one short sentence of git', () => {
    const error = new GitError(`the repository hunter2\u001b[31m ${'x'.repeat(1_000)}`, 'other');
    expect(told(error)).toMatchObject({ message: expect.stringMatching(/^The repository \*\*\* x+$/) });
    expect(String(told(error)).length).toBeLessThan(600);
  });

  it('is nothing of an error of ours, which stays as it is', () => {
    const error = new Error('select secret from rows');
    expect(told(error)).toBe(error);
  });
});

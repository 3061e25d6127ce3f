import { ForgeError } from '../../../../forge/forge-error.ts';
import { GitError } from '../../../../forge/git/git-error.ts';
import { ownerFailure } from '../../../../platform/activities/agent/agent-step.ts';

const failureFor = (error: unknown) => ownerFailure(error, ['hunter2']);

describe('the failure that the owner of a job sees', () => {
  it("is the forge's message with secrets masked, and non-retryable if the forge error is permanent", () => {
    expect(
      failureFor(new ForgeError('the token hunter2 lacks rights', { status: 403, retryable: false })),
    ).toMatchObject({
      type: 'AgentImpossible',
      nonRetryable: true,
      message: 'The forge refused: the token *** lacks rights',
    });
  });

  it('names no address of the network', () => {
    const error = new ForgeError("Gitea can't be reached: connect ECONNREFUSED 10.0.0.5:3000", {
      ...{ status: null, retryable: true },
    });
    expect(failureFor(error)).toMatchObject({ message: expect.not.stringContaining('10.0.0.5') });
  });

  it.each([
    [7_000, 7_000],
    [86_400_000, 3_600_000],
  ])('is retried after the %i ms that the forge names, but after an hour at most', (retryAfterMs, nextRetryDelay) => {
    const error = new ForgeError('slow down', { status: 429, retryable: true, retryAfterMs });
    expect(failureFor(error)).toMatchObject({ type: 'AgentTrouble', nonRetryable: false, nextRetryDelay });
  });

  it('is one short sentence for a git error', () => {
    const error = new GitError(`the repository hunter2\u001b[31m ${'x'.repeat(1_000)}`, 'other');
    expect(failureFor(error)).toMatchObject({ message: expect.stringMatching(/^The repository \*\*\* x+$/) });
    expect(String(failureFor(error)).length).toBeLessThan(600);
  });

  it('is not made from any other error: that one is returned unchanged', () => {
    const error = new Error('select secret from rows');
    expect(failureFor(error)).toBe(error);
  });
});

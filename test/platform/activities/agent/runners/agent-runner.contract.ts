import { readdir } from 'node:fs/promises';
import type { AgentRunner } from '../../../../../platform/activities/agent/agent-runner.ts';
import { createRunnerFixture, FILES, processesNaming, type RunnerFixture } from './runner-fixture.ts';

/**
 * What the runner's agent does: replaces `Hello` by `Bye` in README.md; changes nothing; fails; or prints something and
 * then runs for ever. Each process that it starts has `marker` in its command line.
 */
export type Plan = 'replace' | 'nothing' | 'fail' | 'go on';

export type RunnerUnderTest = {
  model: string;
  /** A runner, and the prompt that makes its agent follow the plan. Undefined if the runner doesn't support the plan. */
  start(plan: Plan, marker: string): Promise<{ runner: AgentRunner; prompt: string } | undefined>;
  stop?(): Promise<void>;
};

/** The tests that every agent runner must pass. */
export function agentRunnerContract(create: () => Promise<RunnerUnderTest>): void {
  let fixture: RunnerFixture;
  let subject: RunnerUnderTest;
  beforeAll(async () => {
    fixture = await createRunnerFixture();
    subject = await create();
  });
  afterAll(async () => {
    await subject?.stop?.();
    await fixture?.remove();
  });

  const start = async (plan: Plan, marker = 'unused'): Promise<{ runner: AgentRunner; prompt: string }> => {
    const started = await subject.start(plan, marker);
    if (started === undefined) throw new Error(`The runner does not support the plan "${plan}"`);
    return started;
  };

  it("returns the tree with the agent's change, and every other file byte for byte", async () => {
    const { runner, prompt } = await start('replace');
    expect(runner.model).toBe(subject.model);
    const { outcome, output, scratchDir } = await fixture.run(runner, prompt);
    expect(outcome).toMatchObject({ packFile: expect.stringMatching(`^${scratchDir}/`) });
    expect(await fixture.filesOf(outcome)).toEqual({ ...FILES, 'README.md': { mode: '100644', content: 'Bye\n' } });
    expect(output).not.toBe('');
  });

  it('reports that nothing was changed', async () => {
    const { runner, prompt } = await start('nothing');
    const { outcome, scratchDir } = await fixture.run(runner, prompt);
    expect(outcome).toEqual({ kind: 'unchanged' });
    expect(await readdir(scratchDir)).not.toContain('change.pack');
  });

  it('gives the reason of a failed run in one sentence', async () => {
    const { runner, prompt } = await start('fail');
    const { outcome } = await fixture.run(runner, prompt);
    expect(outcome).toEqual({ kind: 'failed', error: expect.stringMatching(/^[A-Z].{10,200}\.$/) });
  });

  it('rejects at once if it was aborted before the start', async () => {
    const { runner, prompt } = await start('replace');
    const reason = new Error('cancelled before');
    await expect(fixture.run(runner, prompt, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it('rejects when it is aborted, and leaves no process', async () => {
    const reason = new Error('canceled');
    const marker = `marker-${Math.random()}`;
    const { runner, prompt } = (await subject.start('go on', marker)) ?? (await start('replace'));
    const controller = new AbortController();
    // Aborts at the first output. The agent itself would run for ever.
    const run = fixture.run(runner, prompt, { signal: controller.signal, log: () => controller.abort(reason) });
    await expect(run).rejects.toBe(reason);
    expect(await processesNaming(marker)).toEqual([]);
  });

  it('rejects, so that Temporal retries, if the commit is missing', async () => {
    const { runner, prompt } = await start('replace');
    await expect(fixture.run(runner, prompt, { commit: 'f'.repeat(40) })).rejects.toThrow(/checkout could not be made/);
  });
}

import { readdir } from 'node:fs/promises';
import type { AgentRunner } from '../../../../../platform/activities/agent/agent-runner.ts';
import { createRunnerFixture, FILES, processesNaming, type RunnerFixture } from './runner-fixture.ts';

/**
 * What the runner's agent is to do: put `Bye` for `Hello` in README.md; nothing; fail; or go on for ever, naming
 * `marker` in a process where it starts any, and saying something first.
 */
export type Plan = 'replace' | 'nothing' | 'fail' | 'go on';

export type RunnerUnderTest = {
  model: string;
  /** A runner and the prompt by which its agent follows the plan. Undefined for a plan that it can't be brought to. */
  start(plan: Plan, marker: string): Promise<{ runner: AgentRunner; prompt: string } | undefined>;
  stop?(): Promise<void>;
};

/** What every agent runner promises. */
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
    if (started === undefined) throw new Error(`The runner can't be brought to ${plan}`);
    return started;
  };

  it("hands back the tree with the agent's change, and every other file to the byte", async () => {
    const { runner, prompt } = await start('replace');
    expect(runner.model).toBe(subject.model);
    const { outcome, output, scratchDir } = await fixture.run(runner, prompt);
    expect(outcome).toMatchObject({ packFile: expect.stringMatching(`^${scratchDir}/`) });
    expect(await fixture.filesOf(outcome)).toEqual({ ...FILES, 'README.md': { mode: '100644', content: 'Bye\n' } });
    expect(output).not.toBe('');
  });

  it('says that nothing was changed', async () => {
    const { runner, prompt } = await start('nothing');
    const { outcome, scratchDir } = await fixture.run(runner, prompt);
    expect(outcome).toEqual({ kind: 'unchanged' });
    expect(await readdir(scratchDir)).not.toContain('change.pack');
  });

  it('says in a sentence why a run has failed', async () => {
    const { runner, prompt } = await start('fail');
    const { outcome } = await fixture.run(runner, prompt);
    expect(outcome).toEqual({ kind: 'failed', error: expect.stringMatching(/^[A-Z].{10,200}\.$/) });
  });

  it('rejects at once if it was aborted before it began', async () => {
    const { runner, prompt } = await start('replace');
    const reason = new Error('cancelled before');
    await expect(fixture.run(runner, prompt, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it('rejects when it is aborted, whatever it is doing, and leaves no process', async () => {
    const reason = new Error('cancelled');
    const marker = `marker-${Math.random()}`;
    const { runner, prompt } = (await subject.start('go on', marker)) ?? (await start('replace'));
    const controller = new AbortController();
    // Aborted at its first words. The agent itself would go on for ever.
    const run = fixture.run(runner, prompt, { signal: controller.signal, log: () => controller.abort(reason) });
    await expect(run).rejects.toBe(reason);
    expect(await processesNaming(marker)).toEqual([]);
  });

  it('rejects, for another try, if there is no such commit', async () => {
    const { runner, prompt } = await start('replace');
    await expect(fixture.run(runner, prompt, { commit: 'f'.repeat(40) })).rejects.toThrow(/checkout could not be made/);
  });
}

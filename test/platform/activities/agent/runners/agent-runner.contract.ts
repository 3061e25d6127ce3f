import { readdir } from 'node:fs/promises';
import { execa } from 'execa';
import type { AgentRunner } from '../../../../../platform/activities/agent/agent-runner.ts';
import { allowedMs } from '../../../../helpers/allowed-ms.ts';
import { createRunnerRig, FILES, processesNaming, type RunnerRig } from './runner-rig.ts';

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
  let rig: RunnerRig;
  let subject: RunnerUnderTest;
  beforeAll(async () => {
    rig = await createRunnerRig();
    subject = await create();
  });
  afterAll(async () => {
    await subject?.stop?.();
    await rig?.remove();
  });

  const start = async (plan: Plan, marker = 'unused'): Promise<{ runner: AgentRunner; prompt: string }> => {
    const started = await subject.start(plan, marker);
    if (started === undefined) throw new Error(`The runner can't be brought to ${plan}`);
    return started;
  };

  it('reports its model', async () => {
    expect((await start('nothing')).runner.model).toBe(subject.model);
  });

  it("hands back the tree with the agent's change, and every other file to the byte", async () => {
    const { runner, prompt } = await start('replace');
    const { outcome, output } = await rig.run(runner, prompt);
    expect(await rig.filesOf(outcome)).toEqual({ ...FILES, 'README.md': { mode: '100644', content: 'Bye\n' } });
    expect(output).not.toBe('');
  });

  it('packs only what the commit does not have', async () => {
    const { runner, prompt } = await start('replace');
    const { outcome } = await rig.run(runner, prompt);
    // The root tree and the one file.
    expect(await rig.packedObjects(outcome)).toHaveLength(2);
  });

  it('makes the same tree of the same change, in a second run', async () => {
    const { runner, prompt } = await start('replace');
    const { runner: second } = await start('replace');
    const trees = [await rig.run(runner, prompt), await rig.run(second, prompt)];
    expect(trees[0]?.outcome).toHaveProperty('tree');
    expect(trees[0]?.outcome).toEqual({
      ...trees[1]?.outcome,
      packFile: expect.stringContaining(trees[0]?.scratchDir ?? '/'),
    });
  });

  it('keeps its files in its own folder and leaves the repository as it was', async () => {
    const list = async () => (await execa('find', [rig.repositoryDir, '-printf', '%p %m %s\n'])).stdout;
    const before = await list();
    const { runner, prompt } = await start('replace');
    const { outcome, scratchDir } = await rig.run(runner, prompt);
    expect(outcome).toMatchObject({ packFile: expect.stringMatching(`^${scratchDir}/`) });
    expect(await list()).toBe(before);
  });

  it('says that nothing was changed', async () => {
    const { runner, prompt } = await start('nothing');
    const { outcome, scratchDir } = await rig.run(runner, prompt);
    expect(outcome).toEqual({ kind: 'unchanged' });
    expect(await readdir(scratchDir)).not.toContain('change.pack');
  });

  it('says in a sentence why a run has failed', async () => {
    const { runner, prompt } = await start('fail');
    const { outcome } = await rig.run(runner, prompt);
    expect(outcome).toEqual({ kind: 'failed', error: expect.stringMatching(/^[A-Z].{10,200}\.$/) });
  });

  it('rejects at once where it was aborted before it began', async () => {
    const { runner, prompt } = await start('replace');
    const reason = new Error('cancelled before');
    await expect(rig.run(runner, prompt, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it('rejects within 5 s of being aborted, whatever it is doing, and leaves no process', async () => {
    const reason = new Error('cancelled');
    const marker = `marker-${Math.random()}`;
    const { runner, prompt } = (await subject.start('go on', marker)) ?? (await start('replace'));
    const controller = new AbortController();
    let saidAnything = (): void => {};
    const said = new Promise<void>((resolve) => {
      saidAnything = resolve;
    });
    const run = rig.run(runner, prompt, { signal: controller.signal, log: () => saidAnything() });
    const rejected = expect(run).rejects.toBe(reason);
    await said;
    const since = performance.now();
    controller.abort(reason);
    await rejected;
    expect(performance.now() - since).toBeLessThan(allowedMs(5_000));
    expect(await processesNaming(marker)).toEqual([]);
  });

  it('rejects, for another try, where there is no such commit', async () => {
    const { runner, prompt } = await start('replace');
    await expect(rig.run(runner, prompt, { commit: 'f'.repeat(40) })).rejects.toThrow(/checkout could not be made/);
  });
}

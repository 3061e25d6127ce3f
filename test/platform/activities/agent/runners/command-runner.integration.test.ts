import { createCommandRunner } from '../../../../../platform/activities/agent/runners/create-command-runner.ts';
import { gitIn } from '../../../../helpers/script-runner.ts';
import { agentRunnerContract, type Plan } from './agent-runner.contract.ts';
import { common, createRunnerRig, environment, logger, processesNaming, type RunnerRig } from './runner-rig.ts';

/** An agent whose prompt is a shell's program: so each test says what its agent does. */
const shell = (sandbox: 'on' | 'off') =>
  createCommandRunner({ ...common, sandbox, command: 'sh', model: 'shell', logger });

const programs = (marker: string): Record<Plan, string> => ({
  replace: 'sed -i s/Hello/Bye/ README.md; echo done',
  nothing: 'touch README.md; git log; git status',
  fail: 'echo trouble; exit 3',
  'go on': `echo begun; trap "" TERM INT HUP; setsid sh -c 'while :; do sleep 1; done' ${marker} & sh -c 'sleep 600; : ${marker}'`,
});

describe.each(['on', 'off'] as const)('the command runner with the sandbox %s', (sandbox) => {
  agentRunnerContract(async () => ({
    model: 'shell',
    start: async (plan, marker) => ({ runner: shell(sandbox), prompt: programs(marker)[plan] }),
  }));

  describe('on a checkout of its own', () => {
    let rig: RunnerRig;
    beforeAll(async () => {
      rig = await createRunnerRig();
    });
    afterAll(() => rig?.remove());
    const run = (program: string) => rig.run(shell(sandbox), program);

    it('starts the command in a real checkout of the commit, without a remote', async () => {
      const { output } = await run(
        'git status --short; git remote; git log --format=%s; git diff HEAD; cat windows.txt',
      );
      expect(output).toBe('Begin\none\r\ntwo\n');
    });

    it('gives it an empty HOME and TMPDIR, and no variable but the ones that were allowed', async () => {
      process.env.GALLEY_TEST_SECRET = 'hunter2';
      const { output } = await run(
        'ls -A "$HOME" "$TMPDIR" | wc -c; env | sed s/=.*// | sort | tr "\\n" " "; echo $TERM $LANG',
      );
      delete process.env.GALLEY_TEST_SECRET;
      const marker = sandbox === 'off' ? 'GALLEY_AGENT_RUN ' : '';
      const [, variables, values] =
        output
          .split('\n')
          .join(' ')
          .match(/\d+ (.* )(dumb.*)/s) ?? [];
      expect(variables).toBe(`${marker}HOME LANG PATH PWD TERM TMPDIR `);
      expect(values?.trim()).toBe(`dumb ${environment.LANG}`);
    });

    it('takes the work tree as it is, whether the agent committed or not', async () => {
      const { outcome } = await run('echo a > a; git add a; git commit -qm mine; echo b > b');
      expect(Object.keys(await rig.filesOf(outcome))).toEqual(expect.arrayContaining(['a', 'b', 'README.md']));
    });

    it("leaves out what the repository's .gitignore leaves out", async () => {
      const { outcome } = await run('mkdir build; echo x > build/x; echo x > a.log; echo y > y');
      const names = Object.keys(await rig.filesOf(outcome));
      expect(names).toContain('y');
      expect(names).not.toEqual(expect.arrayContaining([expect.stringMatching(/log|build/)]));
    });

    it('keeps executable files, symbolic links and removals as such', async () => {
      const { outcome } = await run('cp /bin/true tool; ln -s /etc/passwd outside; rm README.md; chmod -x run.sh');
      const files = await rig.filesOf(outcome);
      expect(files).toMatchObject({
        tool: { mode: '100755' },
        outside: { mode: '120000', content: '/etc/passwd' },
        'run.sh': { mode: '100644' },
      });
      expect(files).not.toHaveProperty(['README.md']);
    });

    it('stores an empty tree where everything was deleted', async () => {
      const { outcome } = await run('git rm -rfq .');
      expect(await rig.filesOf(outcome)).toEqual({});
    });

    it('stores what was made unreadable', async () => {
      const { outcome } = await run('mkdir shut; echo x > shut/file; chmod 000 shut/file shut docs');
      expect(Object.keys(await rig.filesOf(outcome))).toEqual(expect.arrayContaining(['shut/file', 'docs/guide.md']));
    });

    it('fails where the agent removed its checkout', async () => {
      const { outcome } = await run('rm -rf "$PWD"');
      expect(outcome).toEqual({ kind: 'failed', error: 'The agent removed its own checkout.' });
    });

    it('runs nothing that the agent planted for git: hooks, filters, a monitor, attributes, another work tree', async () => {
      const planting = `
        plant="sh -c 'echo planted > $PWD/planted; echo planted; cat'"
        git config core.fsmonitor "$plant"; git config filter.planted.clean "$plant"
        mkdir -p .git/hooks .git/info; printf '#!/bin/sh\\n%s' "$plant" > .git/hooks/post-index-change
        chmod +x .git/hooks/*; echo '* filter=planted' >> .git/info/attributes
        echo '* filter=planted text eol=crlf ident' > .gitattributes
        printf 'a\\r\\nb\\n$Id$\\n' > mixed.txt; printf 'Bye\\n' > README.md
        git init -q nested; git -C nested config core.fsmonitor "$plant"; echo n > nested/n`;
      const { outcome } = await run(`${planting}; git config core.worktree /etc`);
      const files = await rig.filesOf(outcome);
      expect(files).toMatchObject({
        'mixed.txt': { content: 'a\r\nb\n$Id$\n' },
        'README.md': { content: 'Bye\n' },
        'nested/n': { content: 'n\n' },
      });
      expect(files).not.toHaveProperty('planted');
      // It would have worked: the agent's own git runs it.
      const { output } = await run(`${planting}; git status >/dev/null 2>&1 </dev/null; cat planted`);
      expect(output).toBe('planted\n');
    });

    it("passes over FIFOs and sockets, and fails where one stands in a file's place", async () => {
      const special = `mkfifo pipe; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("s")'; echo x > x`;
      const { outcome } = await run(special);
      const names = Object.keys(await rig.filesOf(outcome));
      expect(names).toContain('x');
      expect(names).not.toEqual(expect.arrayContaining(['pipe']));
      const { outcome: replaced } = await run('rm README.md; mkfifo README.md');
      expect(replaced).toEqual({
        kind: 'failed',
        error:
          "The agent's files can't be stored by git: README.md: can only add regular files, symbolic links or git-directories",
      });
    });

    it('stores long names, and fails where a path is longer than git can read', async () => {
      const name = 'n'.repeat(255);
      const { outcome } = await run(`echo x > ${name}`);
      expect(await rig.filesOf(outcome)).toHaveProperty([name]);
      const deeper = `i=0; while [ $i -lt 25 ]; do mkdir ${'d'.repeat(200)}; cd -P ${'d'.repeat(200)}; i=$((i+1)); done`;
      const { outcome: deep } = await run(`${deeper}; echo x > x`);
      expect(deep).toEqual({ kind: 'failed', error: expect.stringContaining("can't be stored by git") });
    });

    it("refuses files that would be another checkout's git folder", async () => {
      const { outcome } = await run('mkdir -p docs/.GIT; echo x > docs/.GIT/config');
      expect(outcome).toEqual({ kind: 'failed', error: expect.stringContaining('docs/.GIT/config') });
    });

    it('leaves submodules as they are, whatever the agent put in their place', async () => {
      const { git, commit } = rig;
      const entries = `${await git('ls-tree', commit)}\n160000 commit ${commit}\tmodule\n`;
      const tree = await gitIn(rig.repositoryDir, entries)('mktree', '--missing');
      const { outcome } = await rig.run(
        shell(sandbox),
        'cd module; git init -q; git config core.fsmonitor "sh -c \'echo x > ../planted\'"; echo x > x; echo x > ../beside',
        { commit: await git('commit-tree', tree, '-m', 'Add a module') },
      );
      const files = await rig.filesOf(outcome);
      expect(files).toMatchObject({ module: { mode: '160000', content: commit }, beside: { mode: '100644' } });
      expect(files).not.toHaveProperty('planted');
    });

    it('works on a repository without its history', async () => {
      const shallow = await rig.shallowCopy();
      const { outcome, output } = await rig.run(shell(sandbox), 'git log --format=%s; echo x > x', shallow);
      expect(output).toBe('Go on\n');
      expect(Object.keys(await rig.filesOf(outcome))).toEqual(['later', 'x']);
    });

    it('ends the agent at its time limit', async () => {
      const marker = `marker-${Math.random()}`;
      const limited = createCommandRunner({
        ...common,
        ...{ sandbox, command: 'sh', model: 'shell', logger, limits: { ...common.limits, timeoutMs: 1000 } },
      });
      const { outcome } = await rig.run(limited, programs(marker)['go on']);
      expect(outcome).toEqual({ kind: 'failed', error: 'The agent was ended: it ran longer than 1s, its time limit.' });
      expect(await processesNaming(marker)).toEqual([]);
    });

    it('ends an agent that prints a gigabyte, and passes on no more than the limit', async () => {
      const limited = createCommandRunner({
        ...common,
        ...{
          sandbox,
          command: 'sh',
          model: 'shell',
          logger,
          limits: { ...common.limits, outputLimitBytes: 1024 ** 2 },
        },
      });
      const { outcome, output } = await rig.run(limited, 'head -c 1073741824 /dev/zero | tr "\\0" x; echo late > late');
      expect(outcome).toEqual({
        kind: 'failed',
        error: 'The agent was ended: it printed more than 1 MiB, its limit.',
      });
      expect(output).toBe('x'.repeat(1024 ** 2));
    });

    it('ends what the agent left running before the files are taken', async () => {
      const marker = `marker-${Math.random()}`;
      const { outcome } = await run(
        `(setsid sh -c 'exec >/dev/null 2>&1 </dev/null; while :; do echo more >> README.md; sleep 0.01; done' ${marker} &)
        sleep 0.3; echo x > x`,
      );
      expect(await rig.filesOf(outcome)).toHaveProperty('x');
      expect(await processesNaming(marker)).toEqual([]);
    });

    it('fails where the change is larger than its limit', async () => {
      const limited = createCommandRunner({
        ...common,
        ...{
          sandbox,
          command: 'sh',
          model: 'shell',
          logger,
          limits: { ...common.limits, changeLimitBytes: 1024 ** 2 },
        },
      });
      const { outcome } = await rig.run(limited, 'head -c 3000000 /dev/urandom > big');
      expect(outcome).toEqual({ kind: 'failed', error: "The agent's change is larger than 1 MiB, its limit." });
    });

    it.each([
      ['exit 7', 'The agent ended with exit code 7.'],
      ['kill -KILL $$', 'The agent ended with exit code 137, which stands for SIGKILL.'],
      ['exec /no/such', "The agent's command could not be started (exit code 127)."],
    ])('says how it ended: %s', async (program, error) => {
      expect((await run(program)).outcome).toEqual({ kind: 'failed', error });
    });
  });
});

import { join } from 'node:path';
import { execa } from 'execa';
import { createCommandRunner } from '../../../../../platform/activities/agent/runners/create-command-runner.ts';
import { createExampleRunner } from '../../../../../platform/activities/agent/runners/create-example-runner.ts';
import { gitIn } from '../../../../helpers/script-runner.ts';
import { agentRunnerContract } from './agent-runner.contract.ts';
import {
  common,
  createRunnerFixture,
  environment,
  logger,
  processesNaming,
  type RunnerFixture,
  shellPrograms,
} from './runner-fixture.ts';

const plain = { ...common, sandbox: 'off', model: 'shell', logger } as const;

/** The agent is a shell that runs the prompt as its program, so each test can say what its agent does. */
const shell = (limits: Partial<typeof common.limits> = {}) =>
  createCommandRunner({ ...plain, command: 'sh', limits: { ...common.limits, ...limits } });

describe('the command runner without a sandbox', () => {
  agentRunnerContract(async () => ({
    model: 'shell',
    start: async (plan, marker) => ({ runner: shell(), prompt: shellPrograms(marker)[plan] }),
  }));
});

describe('an agent command in its own checkout', () => {
  let fixture: RunnerFixture;
  beforeAll(async () => {
    fixture = await createRunnerFixture();
  });
  afterAll(() => fixture?.remove());
  const run = (program: string) => fixture.run(shell(), program);

  it('starts in a real checkout of the commit, without a remote', async () => {
    const { output } = await run('git status --short; git remote; git log --format=%s; git diff HEAD; cat windows.txt');
    expect(output).toBe('Begin\none\r\ntwo\n');
  });

  it('gets an empty HOME and TMPDIR, and only the allowed environment variables', async () => {
    process.env.GALLEY_TEST_SECRET = 'hunter2';
    const { output } = await run(
      'find "$HOME" "$TMPDIR" -mindepth 1; env | sed s/=.*// | sort | tr "\\n" " "; echo $TERM $LANG',
    );
    delete process.env.GALLEY_TEST_SECRET;
    expect(output).toBe(`GALLEY_AGENT_RUN HOME LANG PATH PWD TERM TMPDIR dumb ${environment.LANG}\n`);
  });

  it('gets the prompt byte for byte, and need not read it', async () => {
    const prompt = `--help $(id) "; ' \\ {prompt} %s עברית 🦀\r\n\n  ${'a'.repeat(100_000)}`;
    const print = "node -e 'console.log(process.argv[1] ?? fs.readFileSync(0, `utf8`))'";
    const runOf = (command: string) => fixture.run(createCommandRunner({ ...plain, command }), prompt);
    for (const command of [print, `${print} -- {prompt}`]) expect((await runOf(command)).output).toBe(`${prompt}\n`);
    expect((await runOf('true')).outcome).toEqual({ kind: 'unchanged' });
  });

  it('fails with a hint at AGENT_COMMAND if the example agent does not understand the prompt', async () => {
    const runner = createExampleRunner({ ...plain, script: join(process.cwd(), 'examples/replace-agent.js') });
    const { outcome, output } = await fixture.run(runner, 'Rewrite everything, please.');
    expect(outcome).toEqual({
      kind: 'failed',
      error: expect.stringMatching(/^AGENT_COMMAND isn't set, .*the example agent .*doesn't understand this prompt\./),
    });
    expect(output).toContain('I only understand');
  });

  it('packs only objects that the commit lacks, and creates the same tree for the same change', async () => {
    const { replace } = shellPrograms('unused');
    const [{ outcome }, { outcome: second }] = [await run(replace), await run(replace)];
    // The root tree and the one file.
    expect(await fixture.packedObjects(outcome)).toHaveLength(2);
    expect(second).toEqual({ ...outcome, packFile: expect.any(String) });
  });

  it('does not change the repository', async () => {
    const list = async () => (await execa('find', [fixture.repositoryDir, '-printf', '%p %m %s\n'])).stdout;
    const before = await list();
    await run('echo x > x; git add x; git commit -qm mine; git gc -q');
    expect(await list()).toBe(before);
  });

  it('collects the work tree, whether the agent committed or not', async () => {
    const { outcome } = await run('echo a > a; git add a; git commit -qm mine; echo b > b');
    expect(Object.keys(await fixture.filesOf(outcome))).toEqual(expect.arrayContaining(['a', 'b', 'README.md']));
  });

  it("leaves out files that the repository's .gitignore excludes", async () => {
    const { outcome } = await run('mkdir build; echo x > build/x; echo x > a.log; echo y > y');
    const names = Object.keys(await fixture.filesOf(outcome));
    expect(names).toContain('y');
    expect(names).not.toEqual(expect.arrayContaining([expect.stringMatching(/log|build/)]));
  });

  it('preserves executable bits, symbolic links and removals', async () => {
    const { outcome } = await run('cp /bin/true tool; ln -s /etc/passwd outside; rm README.md; chmod -x run.sh');
    const files = await fixture.filesOf(outcome);
    expect(files).toMatchObject({
      tool: { mode: '100755' },
      outside: { mode: '120000', content: '/etc/passwd' },
      'run.sh': { mode: '100644' },
    });
    expect(files).not.toHaveProperty(['README.md']);
  });

  it('stores an empty tree if everything was deleted', async () => {
    const { outcome } = await run('git rm -rfq .');
    expect(await fixture.filesOf(outcome)).toEqual({});
  });

  it('fails if the agent removed its checkout', async () => {
    const { outcome } = await run('rm -rf "$PWD"');
    expect(outcome).toEqual({ kind: 'failed', error: 'The agent removed its own checkout.' });
  });

  it("runs none of the agent's git settings: hooks, filters, fsmonitor, attributes, another work tree", async () => {
    const planting = `
      plant="sh -c 'echo planted > $PWD/planted; echo planted; cat'"
      git config core.fsmonitor "$plant"; git config filter.planted.clean "$plant"
      mkdir -p .git/hooks .git/info; printf '#!/bin/sh\\n%s' "$plant" > .git/hooks/post-index-change
      chmod +x .git/hooks/*; echo '* filter=planted' >> .git/info/attributes
      echo '* filter=planted text eol=crlf ident' > .gitattributes
      printf 'a\\r\\nb\\n$Id$\\n' > mixed.txt; printf 'Bye\\n' > README.md
      git init -q nested; git -C nested config core.fsmonitor "$plant"; echo n > nested/n`;
    const { outcome } = await run(`${planting}; git config core.worktree /etc`);
    const files = await fixture.filesOf(outcome);
    expect(files).toMatchObject({
      'mixed.txt': { content: 'a\r\nb\n$Id$\n' },
      'README.md': { content: 'Bye\n' },
      'nested/n': { content: 'n\n' },
    });
    expect(files).not.toHaveProperty('planted');
    // Proof that the planted command works: the agent's own git runs it.
    const { output } = await run(`${planting}; git status >/dev/null 2>&1 </dev/null; cat planted`);
    expect(output).toBe('planted\n');
  });

  it('skips FIFOs and sockets, and fails if one replaces a file', async () => {
    const special = `mkfifo pipe; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("s")'; echo x > x`;
    const { outcome } = await run(special);
    const names = Object.keys(await fixture.filesOf(outcome));
    expect(names).toContain('x');
    expect(names).not.toEqual(expect.arrayContaining(['pipe']));
    const { outcome: replaced } = await run('rm README.md; mkfifo README.md');
    expect(replaced).toEqual({
      kind: 'failed',
      error:
        "The agent's files can't be stored by git: README.md: can only add regular files, symbolic links or git-directories",
    });
  });

  it('stores long names, and fails if a path is longer than git can read', async () => {
    const name = 'n'.repeat(255);
    const { outcome } = await run(`echo x > ${name}`);
    expect(await fixture.filesOf(outcome)).toHaveProperty([name]);
    const deeper = `i=0; while [ $i -lt 25 ]; do mkdir ${'d'.repeat(200)}; cd -P ${'d'.repeat(200)}; i=$((i+1)); done`;
    const { outcome: deep } = await run(`${deeper}; echo x > x`);
    expect(deep).toEqual({ kind: 'failed', error: expect.stringContaining("can't be stored by git") });
  });

  it('rejects files that would become the .git folder of another checkout', async () => {
    const { outcome } = await run('mkdir -p docs/.GIT; echo x > docs/.GIT/config');
    expect(outcome).toEqual({ kind: 'failed', error: expect.stringContaining('docs/.GIT/config') });
  });

  it('leaves submodules unchanged, whatever the agent wrote there', async () => {
    const { git, commit } = fixture;
    const entries = `${await git('ls-tree', commit)}\n160000 commit ${commit}\tmodule\n`;
    const tree = await gitIn(fixture.repositoryDir, entries)('mktree', '--missing');
    const { outcome } = await fixture.run(
      shell(),
      'cd module; git init -q; git config core.fsmonitor "sh -c \'echo x > ../planted\'"; echo x > x; echo x > ../beside',
      { commit: await git('commit-tree', tree, '-m', 'Add a module') },
    );
    const files = await fixture.filesOf(outcome);
    expect(files).toMatchObject({ module: { mode: '160000', content: commit }, beside: { mode: '100644' } });
    expect(files).not.toHaveProperty('planted');
  });

  it('works on a shallow repository', async () => {
    const shallow = await fixture.shallowCopy();
    const { outcome, output } = await fixture.run(shell(), 'git log --format=%s; echo x > x', shallow);
    expect(output).toBe('Go on\n');
    expect(Object.keys(await fixture.filesOf(outcome))).toEqual(['later', 'x']);
  });

  it('kills the agent at its time limit', async () => {
    const marker = `marker-${Math.random()}`;
    const { outcome } = await fixture.run(shell({ timeoutMs: 1000 }), shellPrograms(marker)['go on']);
    expect(outcome).toEqual({ kind: 'failed', error: 'The agent was ended: it ran longer than 1s, its time limit.' });
    expect(await processesNaming(marker)).toEqual([]);
  });

  it('kills an agent that prints a gigabyte, and passes on only as much as the limit', async () => {
    const limited = shell({ outputLimitBytes: 1024 ** 2 });
    const { outcome, output } = await fixture.run(
      limited,
      'head -c 1073741824 /dev/zero | tr "\\0" x; echo late > late',
    );
    expect(outcome).toEqual({ kind: 'failed', error: 'The agent was ended: it printed more than 1 MiB, its limit.' });
    expect(output).toBe('x'.repeat(1024 ** 2));
  });

  it('kills processes that the agent left running before it collects the files', async () => {
    const marker = `marker-${Math.random()}`;
    const { outcome } = await run(
      `(setsid sh -c 'exec >/dev/null 2>&1 </dev/null; while :; do echo more >> README.md; sleep 0.01; done' ${marker} &)
      sleep 0.3; echo x > x`,
    );
    expect(await fixture.filesOf(outcome)).toHaveProperty('x');
    expect(await processesNaming(marker)).toEqual([]);
  });

  it('fails if the change exceeds its size limit', async () => {
    const limited = shell({ changeLimitBytes: 1024 ** 2 });
    const { outcome } = await fixture.run(limited, 'head -c 3000000 /dev/urandom > big');
    expect(outcome).toEqual({ kind: 'failed', error: "The agent's change is larger than 1 MiB, its limit." });
  });

  it.each([
    ['exit 7', 'The agent ended with exit code 7.'],
    ['kill -KILL $$', 'The agent ended with exit code 137, which stands for SIGKILL.'],
    ['exec /no/such', "The agent's command could not be started (exit code 127)."],
  ])('reports how it ended: %s', async (program, error) => {
    expect((await run(program)).outcome).toEqual({ kind: 'failed', error });
  });
});

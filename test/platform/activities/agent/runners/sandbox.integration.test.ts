import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import pino from 'pino';
import { createCommandRunner } from '../../../../../platform/activities/agent/runners/create-command-runner.ts';
import { createExampleRunner } from '../../../../../platform/activities/agent/runners/create-example-runner.ts';
import {
  readSandbox,
  SandboxMissingError,
} from '../../../../../platform/activities/agent/runners/sandbox/read-sandbox.ts';
import { waitFor } from '../../../../helpers/system/wait-for.ts';
import {
  common,
  createRunnerFixture,
  environment,
  limits,
  logger,
  processesNaming,
  type RunnerFixture,
} from './runner-fixture.ts';

type Options = Partial<Parameters<typeof createCommandRunner>[0]>;
const shell = (options: Options = {}) =>
  createCommandRunner({ ...common, command: 'sh', model: 'shell', logger, ...options });

let fixture: RunnerFixture;
let outside: string;
beforeAll(async () => {
  fixture = await createRunnerFixture();
  outside = await mkdtemp(join(tmpdir(), 'galley-outside-'));
});
afterAll(async () => {
  await rm(outside, { recursive: true, force: true });
  await fixture?.remove();
});
const run = (program: string, options: Options = {}) => fixture.run(shell(options), program);

describe('the sandbox', () => {
  it("hides the machine's home folders, other folders, users, processes and variables", async () => {
    const secret = `secret-${Math.random()}`;
    await writeFile(join(outside, 'secret'), secret);
    process.env.GALLEY_TEST_SECRET = secret;
    const { output } = await run(`
      env; cat ${join(outside, 'secret')} ~root/* /etc/shadow /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' ' '
      cat ${process.cwd()}/package.json 2>/dev/null; ls -A /root /home /var/lib /run /sys /mnt /opt /work 2>/dev/null
      find / -xdev -name docker.sock 2>/dev/null; for p in /proc/[0-9]*; do echo process; done`);
    delete process.env.GALLEY_TEST_SECRET;
    expect(output).not.toContain(secret);
    expect(output).not.toContain('galley-runner-');
    expect(output).not.toContain(`${process.cwd()}`);
    expect(output).not.toContain('root:$');
    expect(output.split('process\n').length).toBeLessThan(8);
  });

  it('allows writing only to the scratch disk, also through links', async () => {
    await writeFile(join(outside, 'file'), 'as it was');
    const { outcome, output } = await run(`
      ln -s ${outside} out; echo x > out/file; ln -s /usr/bin bin; echo x > bin/x; ln -s / root; echo x > root/x
      echo x > /repository/objects/x; echo x > /etc/x; echo x > /dev/x; chmod 777 / /usr; echo reached`);
    expect(output).toMatch(/reached$/m);
    expect(await readFile(join(outside, 'file'), 'utf8')).toBe('as it was');
    expect(output.match(/Read-only file system|Permission denied|nonexistent|No such/g)?.length).toBeGreaterThan(6);
    expect(await fixture.filesOf(outcome)).toMatchObject({ out: { mode: '120000', content: outside } });
  });

  it('blocks kernel settings, capabilities, devices, mounts and other users', async () => {
    const { output } = await run(`
      for f in $(find /proc/sys /proc/sysrq-trigger -type f -writable 2>/dev/null); do
        [ -w "$f" ] && (cat "$f" > "$f") 2>/dev/null && echo "wrote $f"; done
      grep -E '^Cap(Eff|Prm|Amb)|NoNewPrivs' /proc/self/status
      mknod disk b 8 0 && echo made; mount -t tmpfs none /scratch/tmp && echo mounted; chroot / true && echo chrooted
      unshare --mount true && echo unshared; su -c true && echo switched; exit 0`);
    expect(output).not.toMatch(/wrote|^made|^mounted|^chrooted|^unshared|^switched/m);
    expect(output).toMatch(/CapPrm:\t0+\nCapEff:\t0+\nCapAmb:\t0+\nNoNewPrivs:\t1/);
  });

  it('survives an agent that kills every process that it can see, its parent first', async () => {
    const { outcome } = await run(
      'kill -KILL $PPID; kill -TERM $PPID; kill -STOP $PPID; sleep 60 & kill -KILL -1; echo x > x',
    );
    expect(await fixture.filesOf(outcome)).toHaveProperty('x');
  });

  it('kills daemons and a fork bomb before it collects the files', async () => {
    const marker = `marker-${Math.random()}`;
    const { outcome } = await run(`
      cat > bomb <<'END'
if [ $1 -gt 0 ]; then setsid sh ./bomb $(($1 - 1)) ${marker} & setsid sh ./bomb $(($1 - 1)) ${marker} & fi
trap '' TERM HUP; while :; do echo more >> spoils; sleep 1; done
END
      sh ./bomb 7 ${marker} </dev/null >/dev/null 2>&1 & sleep 1; echo x > x`);
    expect(await fixture.filesOf(outcome)).toHaveProperty('x');
    expect(await processesNaming(marker)).toEqual([]);
  });

  it('fails with the reason if the scratch disk is full, whatever the exit code of the agent', async () => {
    const small = { limits: { ...limits, scratchSizeBytes: 16 * 1024 ** 2 } };
    const full = { kind: 'failed', error: "The agent's scratch disk of 16 MiB is full." };
    expect((await run('cat /dev/zero > big', small)).outcome).toEqual(full);
    expect((await run('cat /dev/zero > "$TMPDIR/big"; cat /dev/zero > ~/big; exit 0', small)).outcome).toEqual(full);
    // Shared memory doesn't bypass the limit, and isn't part of the change.
    expect((await run('cat /dev/zero > /dev/shm/big; exit 0', small)).outcome).toEqual({ kind: 'unchanged' });
  });

  it("fails with the reason if the checkout doesn't fit on the scratch disk", async () => {
    const tiny = { limits: { ...limits, scratchSizeBytes: 64 * 1024 } };
    expect((await run('true', tiny)).outcome).toEqual({
      kind: 'failed',
      error: "The agent's scratch disk of 64 KiB is full.",
    });
  });

  it('collects the files although the agent filled and locked the collection folder', async () => {
    const { outcome } = await run(
      'cat /dev/zero > /collect/big; mkdir /collect/git; chmod 000 /collect /scratch; exit 0',
    );
    expect(outcome).toEqual({ kind: 'unchanged' });
  });

  it("makes the operator's read-only paths readable, and the folder of a command on the PATH", async () => {
    const bin = join(outside, 'bin');
    await mkdir(bin, { recursive: true });
    await writeFile(join(bin, 'my-agent'), '#!/bin/sh\ncat "$(dirname "$0")/beside"; cat "$1"; echo x > "$0"\n', {
      mode: 0o755,
    });
    await writeFile(join(bin, 'beside'), 'beside\n');
    await writeFile(join(outside, 'named'), 'named\n');
    const { output } = await run('', {
      command: `my-agent ${join(outside, 'named')}`,
      environment: { ...environment, PATH: `${environment.PATH}:${bin}` },
      readOnlyPaths: [join(outside, 'named')],
    });
    expect(output).toMatch(/^beside\nnamed\n.*Read-only file system/);
  });

  it.each([0, 3, 10, 25, 80])('leaves nothing behind if it is aborted %d ms after its start', async (ms) => {
    const marker = `marker-${Math.random()}`;
    const reason = new Error('canceled');
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), ms);
    const runner = shell({ command: `sh -c 'sleep 600' ${marker}` });
    await expect(fixture.run(runner, '', { signal: controller.signal })).rejects.toBe(reason);
    expect(await processesNaming(marker)).toEqual([]);
  });

  it('dies with the worker', async () => {
    const marker = `marker-${Math.random()}`;
    const prompt = `setsid sh -c 'sleep 600; : ${marker}' & sh -c 'sleep 600; : ${marker}'`;
    const worker = startWorker('on', prompt, ['ignore', 'inherit', 'inherit']);
    const exited = once(worker, 'exit');
    try {
      await waitFor(async () => (await processesNaming(`sleep 600; : ${marker}`)).length > 0, { describe: 'began' });
    } finally {
      worker.kill('SIGKILL');
      await exited;
    }
    await waitFor(async () => (await processesNaming(marker)).length === 0, { describe: 'ended' });
  });

  it.each(['on', 'off'])(
    'gives the agent no descriptor that the worker inherited (AGENT_SANDBOX=%s)',
    async (sandbox) => {
      const path = join(outside, 'log of the host');
      await writeFile(path, 'as it was\n');
      const file = await open(path, 'a');
      const descriptors = [9, 17, 63, 200];
      const stdio = Array.from({ length: 201 }, (_, index) => (descriptors.includes(index) ? file.fd : 'ignore'));
      const prompt = `
      for fd in /proc/self/fd/*; do echo "open: $(readlink "$fd")"; done
      for fd in ${descriptors.join(' ')}; do echo planted > /proc/self/fd/$fd; done; echo reached`;
      const worker = startWorker(sandbox, prompt, ['ignore', 'pipe', 'inherit', ...stdio.slice(3)]);
      const [output] = await Promise.all([text(worker.stdout ?? Readable.from([])), once(worker, 'exit')]);
      await file.close();
      expect(output).toMatch(/^reached$/m);
      expect(output).not.toContain(path);
      expect(await readFile(path, 'utf8')).toBe('as it was\n');
    },
  );

  it('fails with instructions if bubblewrap is missing or forbidden', async () => {
    const nowhere = join(outside, 'nowhere');
    await expect(readSandbox(nowhere)).rejects.toThrow(/apt-get install bubblewrap.*AGENT_SANDBOX=off/);
    const forbidden = { environment: { ...environment, PATH: `${await forbiddenSandbox()}:${environment.PATH}` } };
    expect((await run('true', forbidden)).outcome).toEqual({
      kind: 'failed',
      error: expect.stringMatching(/doesn't allow \(bwrap: No permissions.*AGENT_SANDBOX=off/),
    });
  });

  it('fails, instead of running with network access, if the machine forbids network namespaces', async () => {
    const bin = await mkdtemp(join(outside, 'bin-'));
    const program = `#!/bin/sh
      for word; do [ "$word" = --unshare-net ] && { echo 'bwrap: loopback: Failed RTM_NEWADDR' >&2; exit 1; }; done
      PATH=${environment.PATH} exec bwrap "$@"`;
    await writeFile(join(bin, 'bwrap'), program, { mode: 0o755 });
    const forbidden = { environment: { ...environment, PATH: `${bin}:${environment.PATH}` } };
    const { outcome, output } = await run('echo ran', forbidden);
    expect(outcome).toEqual({
      kind: 'failed',
      error: expect.stringMatching(/doesn't allow \(bwrap: loopback: Failed RTM_NEWADDR\).*network namespaces/),
    });
    expect(output).toBe('');
  });

  it('is neither reported missing nor weakened if the check itself could not run', async () => {
    const bin = await mkdtemp(join(outside, 'bin-'));
    // As on an overloaded machine, where the check of the strictest mode is killed.
    await writeFile(join(bin, 'bwrap'), '#!/bin/sh\n[ "$1" = --unshare-user ] && kill -KILL $$\nexit 0\n', {
      mode: 0o755,
    });
    const refused = readSandbox(bin);
    await expect(refused).rejects.toThrow(/could not be tried/);
    await expect(refused).rejects.not.toBeInstanceOf(SandboxMissingError);
  });

  it('reports a missing agent command separately', async () => {
    expect((await run('', { command: 'no-such-agent' })).outcome).toEqual({
      kind: 'failed',
      error: "The agent's command no-such-agent isn't on this worker: install it, or correct AGENT_COMMAND or PATH.",
    });
  });

  it('is optional only for the example agent, which logs that once', async () => {
    const warnings: unknown[] = [];
    const runner = createExampleRunner({
      ...{ ...common, script: join(process.cwd(), 'examples/replace-agent.js') },
      environment: { ...environment, PATH: `${await forbiddenSandbox()}:${environment.PATH}` },
      logger: pino({ level: 'warn' }, { write: (line) => warnings.push(JSON.parse(line)) }),
    });
    const prompt = "Replace 'Hello' with 'Bye' in README.md";
    for (const { outcome } of [await fixture.run(runner, prompt), await fixture.run(runner, prompt)]) {
      expect(outcome.kind).toBe('changed');
    }
    expect(warnings).toEqual([expect.objectContaining({ msg: 'the example agent runs without a sandbox' })]);
  });
});

/** A process of its own that runs one agent. */
function startWorker(sandbox: string, prompt: string, stdio: StdioOptions): ChildProcess {
  const main = join(process.cwd(), 'test/platform/activities/agent/runners/runner-main.ts');
  const args = [main, fixture.repositoryDir, fixture.commit, outside, sandbox, prompt];
  return spawn(process.execPath, ['--import', './scripts/typescript.js', ...args], { stdio });
}

/** A folder with a bubblewrap that fails as on a machine without user namespaces. */
async function forbiddenSandbox(): Promise<string> {
  const folder = await mkdtemp(join(outside, 'forbidden-'));
  const program = '#!/bin/sh\necho "bwrap: No permissions to create a new namespace" >&2; exit 1\n';
  await writeFile(join(folder, 'bwrap'), program, { mode: 0o755 });
  return folder;
}

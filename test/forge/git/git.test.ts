import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { createGit, type Git } from '../../../forge/git/git.ts';
import { gitEnvironment } from '../../../forge/git/git-environment.ts';
import { explainFailure, GitError, remoteWords } from '../../../forge/git/git-error.ts';
import { startHttpSite } from '../../helpers/http-site.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { emptiedFolder } from '../../helpers/temporary-folder.ts';

const folder = emptiedFolder();
const forever = new AbortController().signal;

async function failure(run: Promise<unknown>): Promise<GitError> {
  const error = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof GitError) return error;
  throw error ?? new Error('Expected a GitError');
}

/** Puts a fake `git` on the path, to observe how the product starts it. */
async function fakeGit(script: string): Promise<Git> {
  await writeFile(join(folder, 'git'), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, 'git'), 0o755);
  return createGit({ signal: forever, environment: { PATH: `${folder}:/usr/bin:/bin` } });
}

describe('git', () => {
  it('inherits nothing from the environment and keeps secrets out of the argument list', async () => {
    const git = await fakeGit(`env > ${folder}/env; echo "$@" > ${folder}/args`);
    const credentials = { username: 'x-access-token', password: 'sesame-secret' };
    await git(['ls-remote', 'https://forge.example/a/b'], {
      remote: { repository: 'https://forge.example/a/b', credentials },
    });
    const env = await readFile(join(folder, 'env'), 'utf8');
    expect(env).not.toMatch(/^(USER|LOGNAME|npm_|JEST)/m);
    expect(env).toContain('GALLEY_GIT_PASSWORD=sesame-secret');
    expect(env).toContain('credential.https://forge.example.helper');
    expect(await readFile(join(folder, 'args'), 'utf8')).toBe('ls-remote https://forge.example/a/b\n');
  });

  it('sends credentials to their host and to no other', async () => {
    const otherHeaders: (string | undefined)[] = [];
    const other = await startHttpSite((request, response) => {
      otherHeaders.push(request.headers.authorization);
      response.writeHead(401, { 'www-authenticate': 'Basic realm="other"' }).end();
    });
    const forgeHeaders: (string | undefined)[] = [];
    const forge = await startHttpSite((request, response) => {
      forgeHeaders.push(request.headers.authorization);
      if (request.headers.authorization === undefined) {
        response.writeHead(401, { 'www-authenticate': 'Basic realm="forge"' }).end();
      } else
        response.writeHead(302, { location: `${other.origin.replace('127.0.0.1', 'localhost')}${request.url}` }).end();
    });
    const credentials = { username: 'u', password: 'sesame' };
    const git = createGit({ signal: forever });
    const remote = { repository: `${forge.origin}/a/b`, credentials };
    const error = await failure(git(['ls-remote', '--', remote.repository], { remote }));
    expect(forgeHeaders).toContain(`Basic ${Buffer.from('u:sesame').toString('base64')}`);
    expect(otherHeaders.filter((header) => header !== undefined)).toEqual([]);
    expect(error.reason).toBe('refused');
    expect(error.message).not.toContain('sesame');
    await forge.close();
    await other.close();
  });

  it("ignores the user's configuration", async () => {
    const git = createGit({ signal: forever, environment: { HOME: folder } });
    await writeFile(join(folder, '.gitconfig'), '[alias]\n\tspy = !touch spied\n[init]\n\tdefaultBranch = spied\n');
    const dir = join(folder, 'bare.git');
    await git(['init', '--quiet', '--bare', dir]);
    expect((await git(['symbolic-ref', 'HEAD'], { dir })).stdout).not.toContain('spied');
    expect((await failure(git(['spy'], { dir }))).reason).toBe('other');
  });

  it('allows only the protocols of repositories', async () => {
    const git = createGit({ signal: forever });
    const error = await failure(git(['ls-remote', '--', `ext::sh -c touch% ${folder}/ran`]));
    expect(error).toMatchObject({ reason: 'refused', retryable: false });
    await expect(readFile(join(folder, 'ran'))).rejects.toThrow('ENOENT');
  });

  describe('that ignores SIGTERM', () => {
    // Fakes only the timers that kill git. Its child process obeys SIGTERM.
    beforeEach(() => {
      jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'queueMicrotask', 'setImmediate', 'performance'] });
    });
    afterEach(() => {
      jest.useRealTimers();
    });

    async function started(signal: AbortSignal) {
      await fakeGit(`sleep 3600 & echo $! > ${folder}/pid; trap '' TERM; wait; wait; sleep 3600`);
      const environment = { PATH: `${folder}:/usr/bin:/bin` };
      const ended = failure(createGit({ signal, environment })(['fetch'], { timeoutMs: 60_000 }));
      return { ended, pid: await waitFor(pidOf, { describe: 'started' }) };
    }

    it('is killed with its child processes when it is aborted', async () => {
      const abort = new AbortController();
      const { ended, pid } = await started(abort.signal);
      abort.abort(new Error('enough'));
      await isGone(pid);
      jest.advanceTimersByTime(1_000);
      await expect(ended).rejects.toThrow('enough');
    });

    it('is killed with its child processes when it times out', async () => {
      const { ended, pid } = await started(forever);
      jest.advanceTimersByTime(59_999);
      expect(isAlive(pid)).toBe(true);
      jest.advanceTimersByTime(1);
      await isGone(pid);
      jest.advanceTimersByTime(1_000);
      expect(await ended).toMatchObject({ reason: 'timeout', retryable: true });
    });
  });

  it('fails if it prints more than the limit', async () => {
    const git = await fakeGit('yes');
    expect((await failure(git(['log'], { maxOutputBytes: 10_000 }))).message).toMatch(/printed more than 10000 bytes/);
  });
});

/** Undefined while the file is still empty, because pid 0 would signal this process's whole group. */
async function pidOf(): Promise<number | undefined> {
  return Number(await readFile(join(folder, 'pid'), 'utf8')) || undefined;
}

const isGone = (pid: number) => waitFor(() => !isAlive(pid), { describe: 'ended' });

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('a failure of git', () => {
  it.each([
    ['missing', "fatal: repository 'https://u:p@forge.example/a/b/' not found"],
    ['missing', "fatal: '/x' does not appear to be a git repository\nfatal: Could not read from remote repository."],
    ['missing', "fatal: couldn't find remote ref refs/heads/x"],
    ['missing', 'fatal: remote error: upload-pack: not our ref 123'],
    ['refused', "fatal: Authentication failed for 'https://forge.example/a/b/'"],
    ['refused', "fatal: could not read Username for 'https://forge.example': terminal prompts disabled"],
    ['refused', 'git@forge.example: Permission denied (publickey).\nfatal: Could not read from remote repository.'],
    ['refused', "fatal: unable to access 'https://f.example/': The requested URL returned error: 403"],
    ['unreachable', "fatal: unable to access 'https://f.example/': Could not resolve host: f.example"],
    ['unreachable', "fatal: unable to access 'https://f.example/': The requested URL returned error: 502"],
    ['unreachable', 'error: RPC failed; curl 56\nfatal: early EOF'],
    ['other', 'fatal: something new'],
  ])('means %s: %s', (reason, stderr) => {
    expect(explainFailure(stderr, 'fetch', [])).toMatchObject({
      reason,
      retryable: reason === 'unreachable' || reason === 'other',
    });
  });

  it('is reported in one short line without secrets', () => {
    const stderr = `remote: hi\nfatal: unable to access 'https://u:p@f.example/a?t=s3cr3t': ${'x'.repeat(1_000)}\u001b[31m`;
    const { message } = explainFailure(stderr, 'fetch', ['s3cr3t']);
    expect(message).toMatch(/unable to access 'https:\/\/f\.example\/a\?t=\*\*\*'/);
    expect(message).not.toMatch(/s3cr3t|u:p|\n/);
    expect(message).not.toContain('\u001b');
    expect(message.length).toBeLessThan(400);
    const remote =
      'remote: \nremote: error: \nremote: error: GH006: Protected branch\nremote: error: Sign commits.   \n';
    expect(remoteWords(remote, [])).toBe('GH006: Protected branch Sign commits.');
  });

  it('is in English, because git runs with LC_ALL=C, and without prompts', () => {
    expect(gitEnvironment({})).toMatchObject({ LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_ASKPASS: '' });
  });
});

import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { JobProcess } from '../../base/job-process.ts';
import type { TestWork } from './job-program-main.ts';

const PROGRAM = join(process.cwd(), 'test/base/job-program-main.ts');
const TYPESCRIPT = ['--import', join(process.cwd(), 'scripts/typescript.js')];

let child: ChildProcess;

function start({ idleMs = 60_000, onEnd = () => undefined } = {}): JobProcess<TestWork, string> {
  child = fork(PROGRAM, { execArgv: TYPESCRIPT });
  return new JobProcess(child, {
    idleMs,
    onNotice: ({ asks }, job) => job?.reply(`${asks} ${job.context}`),
    endedError: (why) => new Error(`it has ended: ${why}`),
    onEnd,
  });
}

afterEach(() => child.kill('SIGKILL'));

describe('a process that runs jobs', () => {
  it('runs several at a time and answers what each asks', async () => {
    const jobs = start();
    const greetings = ['Ada', 'Eve'].map((name) => jobs.run('greet', name));
    expect(jobs.load).toBe(2);
    expect(await Promise.all(greetings)).toEqual(['Hello name Ada', 'Hello name Eve']);
    expect(jobs.load).toBe(0);
  });

  it('lets a job decide what an abort means, and starts none that was aborted before', async () => {
    const jobs = start();
    const aborting = new AbortController();
    const waiting = jobs.run('wait for abort', '', aborting.signal);
    aborting.abort(new Error('enough'));
    expect(await waiting).toBe('aborted');
    await expect(jobs.run('greet', '', aborting.signal)).rejects.toThrow('enough');
  });

  it('fails its jobs with its end, and takes no others', async () => {
    const ends = new EventEmitter();
    const ended = once(ends, 'end');
    const jobs = start({ onEnd: () => void ends.emit('end') });
    const waiting = jobs.run('wait for abort', '');
    jobs.kill();
    expect(jobs.takesJobs).toBe(false);
    await expect(waiting).rejects.toThrow('it has ended: SIGKILL');
    await ended;
  });

  it('ends after its last job when it is retired', async () => {
    const jobs = start();
    const exited = once(child, 'exit');
    const aborting = new AbortController();
    const waiting = jobs.run('wait for abort', '', aborting.signal);
    jobs.retire();
    expect(jobs.takesJobs).toBe(false);
    aborting.abort();
    expect(await waiting).toBe('aborted');
    expect(await exited).toEqual([null, 'SIGKILL']);
  });

  it.each([
    ['after a job', true],
    ['without any', false],
  ])('ends when it is idle, %s', async (_, hasJob) => {
    const jobs = start({ idleMs: 1 });
    const exited = once(child, 'exit');
    if (hasJob) expect(await jobs.run('greet', 'Ada')).toBe('Hello name Ada');
    expect(await exited).toEqual([null, 'SIGKILL']);
    expect(jobs.takesJobs).toBe(false);
  });

  it('ends with its parent, and not by Ctrl-C', async () => {
    const jobs = start();
    await jobs.run('greet', '');
    for (const signal of ['SIGINT', 'SIGTERM'] as const) child.kill(signal);
    expect(await jobs.run('greet', 'Ada')).toBe('Hello name Ada');
    const exited = once(child, 'exit');
    child.disconnect();
    expect(await exited).toEqual([null, 'SIGKILL']);
  });
});

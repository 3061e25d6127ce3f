import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_RUNNER_LIMITS } from '../../../../../platform/activities/agent/runners/runner-limits.ts';
import { startChild } from '../../../../../platform/activities/agent/runners/start-child.ts';
import { watchRun } from '../../../../../platform/activities/agent/runners/watch-run.ts';

describe('a run that is watched', () => {
  it('has not ended where a signal could not be delivered to it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'galley-watch-'));
    const script = 'read -r line; echo ready >&3; echo exit 0 >&3; echo unchanged >&3';
    const child = await startChild('/bin/sh', ['-c', script], { stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
    const run = {
      ...{ repositoryDir: folder, scratchDir: folder, commit: '0'.repeat(40), signal: new AbortController().signal },
      ...{ words: [], environment: {}, readOnlyPaths: [], network: false, collect: true, log: () => undefined },
      ...{ limits: DEFAULT_RUNNER_LIMITS, stdin: Buffer.from('go\n') },
    };
    const ended = watchRun({ child, run, packFile: join(folder, 'pack'), kill: () => undefined });
    // As Node tells that it was not allowed to.
    child.emit('error', Object.assign(new Error('kill EPERM'), { code: 'EPERM' }));
    expect(await ended).toMatchObject({ report: { exitCode: 0, ending: { kind: 'unchanged' } }, endedBy: null });
    await rm(folder, { recursive: true });
  });
});

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DEFAULT_RUNNER_LIMITS } from '../../../../../platform/activities/agent/runners/runner-limits.ts';
import { startChild } from '../../../../../platform/activities/agent/runners/start-child.ts';
import { watchRun } from '../../../../../platform/activities/agent/runners/watch-run.ts';
import { waitFor } from '../../../../helpers/system/wait-for.ts';
import { emptiedFolder } from '../../../../helpers/temporary-folder.ts';

const folder = emptiedFolder();

async function watch(script: string, wait?: () => Promise<void>) {
  const child = await startChild('/bin/sh', ['-c', script], { stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
  const run = {
    ...{ repositoryDir: folder, scratchDir: folder, commit: '0'.repeat(40), signal: new AbortController().signal },
    ...{
      words: [],
      environment: {},
      readOnlyPaths: [],
      jobId: 'aj_0000000000000000',
      log: () => undefined,
    },
    ...{ limits: DEFAULT_RUNNER_LIMITS, stdin: Buffer.from('go\n') },
  };
  return {
    child,
    ended: watchRun({ child, run, packFile: join(folder, 'pack'), kill: () => undefined, ...(wait && { wait }) }),
  };
}

describe('watchRun', () => {
  it('does not take a signal that could not be delivered for the end of the run', async () => {
    const { child, ended } = await watch('read -r line; echo ready >&3; echo exit 0 >&3; echo unchanged >&3');
    // Node emits this error if it lacks the permission to kill.
    child.emit('error', Object.assign(new Error('kill EPERM'), { code: 'EPERM' }));
    expect(await ended).toMatchObject({ report: { exitCode: 0, ending: { kind: 'unchanged' } }, endedBy: null });
  });

  it('ends although an escaped process keeps the pipes open, also after a pack', async () => {
    const tree = 'a'.repeat(40);
    const report = `echo ready >&3; echo exit 0 >&3; echo changed ${tree} 4 >&3; printf PACK >&3`;
    const pack = () => readFile(join(folder, 'pack'), 'utf8');
    // The grace period ends as soon as the pack is complete.
    const wait = async () =>
      void (await waitFor(async () => (await pack()) === 'PACK', { describe: 'wrote the pack' }));
    const { ended } = await watch(`sleep 600 & echo $! > ${folder}/escaped; ${report}`, wait);
    const end = await ended;
    // Throws if the process is gone, since the test would then prove nothing.
    process.kill(Number(await readFile(join(folder, 'escaped'), 'utf8')), 'SIGKILL');
    expect(end.report).toMatchObject({ exitCode: 0, ending: { kind: 'changed', tree } });
    expect(await pack()).toBe('PACK');
  });
});

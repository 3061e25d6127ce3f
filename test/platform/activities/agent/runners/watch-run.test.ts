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
      collect: true,
      log: () => undefined,
    },
    ...{ limits: DEFAULT_RUNNER_LIMITS, stdin: Buffer.from('go\n') },
  };
  return {
    child,
    ended: watchRun({ child, run, packFile: join(folder, 'pack'), kill: () => undefined, ...(wait && { wait }) }),
  };
}

describe('a run that is watched', () => {
  it('has not ended if a signal could not be delivered to it', async () => {
    const { child, ended } = await watch('read -r line; echo ready >&3; echo exit 0 >&3; echo unchanged >&3');
    // As Node tells that it was not allowed to.
    child.emit('error', Object.assign(new Error('kill EPERM'), { code: 'EPERM' }));
    expect(await ended).toMatchObject({ report: { exitCode: 0, ending: { kind: 'unchanged' } }, endedBy: null });
  });

  it('ends though a process that escaped holds all that it could write to, also behind a pack', async () => {
    const tree = 'a'.repeat(40);
    const report = `echo ready >&3; echo exit 0 >&3; echo changed ${tree} 4 >&3; printf PACK >&3`;
    const pack = () => readFile(join(folder, 'pack'), 'utf8');
    // What is waited for after the end takes as long as the report takes to come.
    const wait = async () => void (await waitFor(async () => (await pack()) === 'PACK', { describe: 'came' }));
    const { ended } = await watch(`sleep 600 & echo $! > ${folder}/escaped; ${report}`, wait);
    const end = await ended;
    // Throws where it has gone: then this would show nothing.
    process.kill(Number(await readFile(join(folder, 'escaped'), 'utf8')), 'SIGKILL');
    expect(end.report).toMatchObject({ exitCode: 0, ending: { kind: 'changed', tree } });
    expect(await pack()).toBe('PACK');
  });
});

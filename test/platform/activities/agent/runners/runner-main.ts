// A worker process for a test that kills it. Its agent runs until it is killed.
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { createCommandRunner } from '../../../../../platform/activities/agent/runners/create-command-runner.ts';
import { common, logger } from './runner-fixture.ts';

const [repositoryDir = '', commit = '', folder = '', marker = ''] = process.argv.slice(2);
const runner = createCommandRunner({ ...common, command: 'sh', model: 'shell', logger });
await runner.run({
  ...{
    jobId: 'aj_0000000000000000',
    run: 1,
    repositoryDir,
    commit,
    signal: new AbortController().signal,
    log: () => {},
  },
  scratchDir: await mkdtemp(join(folder, 'worker-')),
  prompt: `setsid sh -c 'sleep 600; : ${marker}' & sh -c 'sleep 600; : ${marker}'`,
});

// A worker process of its own, for a test that kills it or leaves descriptors open. It prints what its agent prints.
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { closeInheritedDescriptors } from '../../../../../base/close-inherited-descriptors.ts';
import { createCommandRunner } from '../../../../../platform/activities/agent/runners/create-command-runner.ts';
import { common, logger } from './runner-fixture.ts';

// As the command line does.
closeInheritedDescriptors([]);
const [repositoryDir = '', commit = '', folder = '', sandbox = '', prompt = ''] = process.argv.slice(2);
const runner = createCommandRunner({
  ...{ ...common, command: 'sh', model: 'shell', logger },
  sandbox: sandbox === 'off' ? 'off' : 'on',
});
await runner.run({
  ...{
    jobId: 'aj_0000000000000000',
    run: 1,
    repositoryDir,
    commit,
    signal: new AbortController().signal,
    log: (chunk) => process.stdout.write(chunk),
  },
  scratchDir: await mkdtemp(join(folder, 'worker-')),
  prompt,
});

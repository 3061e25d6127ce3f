import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createDirectoryTarget } from '../../../../activities/deployments/targets/directory.ts';
import { startProcess } from '../../../helpers/platform-worker-process.ts';
import { waitFor } from '../../../helpers/system/wait-for.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { deploymentWrite } from '../deployment-write.ts';
import { sizeOf, startBundleServer } from './contract.ts';
import type { FolderWriteOptions } from './folder-write-main.ts';

const root = temporaryFolder();

test('a write to a folder whose process is killed is continued by another process, which fetches only the rest', async () => {
  const bundles = await startBundleServer();
  try {
    const write = deploymentWrite({ jobId: 'se_v2', version: 'v2', bundleUrl: bundles.linkOf('v2') });
    bundles.mode = 'stall';
    const options: FolderWriteOptions = { root, write };
    const child = await startProcess('test/activities/deployments/targets/folder-write-main.ts', options);
    const staging = join(root, '.galley', 'staging');
    await waitFor(async () => (await sizeOf(staging)) > 1_000, { describe: 'something is staged' });
    await child.kill();
    expect(await readdir(root)).toEqual(['.galley']);
    // As a disk leaves a file that was being written.
    await writeFile(join(staging, '0'.repeat(64)), 'half');

    const [first = 0] = bundles.starts;
    Object.assign(bundles, { mode: 'serve', starts: [] });
    const context = { site: 'docs', signal: new AbortController().signal };
    expect(await createDirectoryTarget(root).write(write, context)).toMatchObject({ outcome: 'written' });
    expect(bundles.starts).not.toEqual([]);
    expect(Math.min(...bundles.starts)).toBeGreaterThan(first);
    expect(await readFile(join(root, 'index.html'), 'utf8')).toContain('home v2');
    expect(await readdir(join(root, '.galley'))).not.toContain('staging');
  } finally {
    await bundles.close();
  }
});

import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { DiskTarget } from '../../../activities/deployments/disk/messages.ts';
import { createDiskProcesses } from '../../../activities/deployments/disk/processes.ts';
import { sha256Hex } from '../../../base/sha256.ts';
import { buildBundle, siteOf } from '../../deployment/bundles.ts';
import { type HttpSite, startHttpSite } from '../../helpers/http-site.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { emptiedFolder } from '../../helpers/temporary-folder.ts';
import { deploymentWrite } from './deployment-write.ts';

const folder = emptiedFolder();
const signer = { sign: (bytes: Uint8Array) => sha256Hex(bytes) };

let server: HttpSite;
beforeEach(async () => {
  const bundle = await buildBundle({ ...siteOf('v1'), jobId: 'se_1' });
  // One bundle is never sent.
  server = await startHttpSite(({ url }, response) => url !== '/never' && response.end(bundle));
});
afterEach(() => server.close());

const disk = createDiskProcesses({ jobsAtOnce: 3, hangsAfterMs: 1_000 });

function write(target: DiskTarget, { bundle = 'bundle', signal = new AbortController().signal } = {}) {
  const bundleUrl = `${server.origin}/${bundle}`;
  return disk.write({ target, write: deploymentWrite({ bundleUrl }) }, { signal, signer });
}

it('folders are written in another process, and signed with a key that stays in this one', async () => {
  const [site, transfer] = [join(folder, 'site'), join(folder, 'transfer')];
  await expect(write({ kind: 'directory', settings: site })).resolves.toMatchObject({ outcome: 'written' });
  expect(await readFile(join(site, 'index.html'), 'utf8')).toContain('v1');
  await expect(write({ kind: 'airgap', settings: transfer })).resolves.toMatchObject({ outcome: 'written' });
  const sums = await readFile(join(transfer, 'docs', 'v1', 'SHA256SUMS'));
  expect(await readFile(join(transfer, 'docs', 'v1', 'SHA256SUMS.sig'), 'utf8')).toBe(`${sha256Hex(sums)}\n`);
});

it('a folder whose file system hangs ends alone', async () => {
  const hanging = join(folder, 'hanging');
  const state = join(hanging, '.galley', 'deployed.json');
  await mkdir(dirname(state), { recursive: true });
  await promisify(execFile)('mkfifo', [state]);
  const other = new AbortController();
  // In the same process, which must not be killed before this write has ended.
  const slow = write({ kind: 'directory', settings: join(folder, 'slow') }, { bundle: 'never', signal: other.signal });
  await waitFor(() => server.requests.includes('/never'), { describe: 'downloads' });
  await expect(write({ kind: 'directory', settings: hanging })).rejects.toMatchObject({
    type: 'FileSystemHangs',
    message: `the file system of ${hanging} does not respond`,
  });
  // It ends as its target ends it, not with its process.
  other.abort();
  await expect(slow).rejects.toThrow(/abort/i);
  await expect(write({ kind: 'directory', settings: join(folder, 'next') })).resolves.toMatchObject({
    outcome: 'written',
  });
});

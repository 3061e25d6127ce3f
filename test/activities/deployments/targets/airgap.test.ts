import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createAirgapTarget } from '../../../../activities/deployments/targets/airgap.ts';
import { emptiedFolder } from '../../../helpers/temporary-folder.ts';
import { describeTarget, faultsOfBundles } from './contract.ts';

const root = emptiedFolder();

async function latest(): Promise<{ version: string; folder: string } | null> {
  return JSON.parse(await readFile(join(root, 'docs', 'latest'), 'utf8').catch(() => 'null'));
}

describeTarget('airgap', async (bundles) => ({
  target: createAirgapTarget(root, {
    signer: { sign: (bytes) => createHash('sha256').update(bytes).digest('base64') },
  }),
  async version() {
    const newest = await latest();
    if (newest === null) return null;
    const folder = join(root, 'docs', newest.folder);
    expect((await readdir(folder)).sort()).toEqual(['SHA256SUMS', 'SHA256SUMS.sig', 'bundle.tar.gz', 'values.yaml']);
    const sums = await readFile(join(folder, 'SHA256SUMS'), 'utf8');
    for (const line of sums.trim().split('\n')) {
      const [sha256, name = ''] = line.split('  ');
      const bytes = await readFile(join(folder, name));
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
    }
    return newest.version;
  },
  async fingerprint() {
    const newest = await latest();
    const { mtimeMs, ino } = await stat(join(root, 'docs', newest?.folder ?? ''));
    return JSON.stringify([newest, mtimeMs, ino]);
  },
  ...faultsOfBundles(bundles),
}));

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAirgapTarget } from '../../../../activities/deployments/targets/airgap.ts';
import { readBundleHead } from '../../../../bundle/read-bundle.ts';
import { buildBundle, siteOf } from '../../../deployment/bundles.ts';
import { startHttpSite } from '../../../helpers/http-site.ts';
import { emptiedFolder } from '../../../helpers/temporary-folder.ts';
import { deploymentWrite } from '../deployment-write.ts';
import { describeTarget, faultsOfBundles, sizeOf } from './contract.ts';

const root = emptiedFolder();

async function latest(): Promise<{ version: string; folder: string } | null> {
  return JSON.parse(await readFile(join(root, 'docs', 'latest'), 'utf8').catch(() => 'null'));
}

describeTarget(
  'airgap',
  async (bundles) => ({
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
    stagedBytes: () => sizeOf(join(root, 'docs', '.incomplete')),
    ...faultsOfBundles(bundles),
  }),
  { isOwned: false },
);

test('a job whose version an earlier job had too gets a folder of its own, and a repeated write finds it', async () => {
  const server = await startHttpSite(async (request, response) => {
    response.end(await buildBundle({ ...siteOf('v1'), jobId: request.url?.slice(1) ?? '' }));
  });
  const deploy = async (jobId: string, sequence: number): Promise<string> => {
    const write = deploymentWrite({ sequence, version: 'v1', jobId, bundleUrl: `${server.origin}/${jobId}` });
    const context = { site: 'docs', signal: new AbortController().signal };
    await createAirgapTarget(root).write(write, context);
    const folder = (await latest())?.folder ?? '';
    const { manifest } = await readBundleHead(createReadStream(join(root, 'docs', folder, 'bundle.tar.gz')));
    expect(JSON.parse(manifest.toString())).toMatchObject({ jobId });
    return folder;
  };
  try {
    expect(await deploy('se_1', 1)).toBe('v1');
    expect(await deploy('se_2', 2)).toBe('se_2');
    expect(await deploy('se_2', 3)).toBe('se_2');
    expect(await deploy('se_1', 4)).toBe('v1');
    expect(server.requests).toHaveLength(2);
    await writeFile(join(root, 'docs', 'v1', 'bundle.tar.gz'), 'damaged');
    expect(await deploy('se_3', 5)).toBe('se_3');
  } finally {
    await server.close();
  }
});

test('keeps the newest version and the two before, removes no other folder, and none outside', async () => {
  const server = await startHttpSite(async (request, response) => {
    const version = request.url?.slice(1) ?? '';
    response.end(await buildBundle({ ...siteOf(version), jobId: `se_${version}` }));
  });
  let sequence = 0;
  const deploy = async (version: string): Promise<string[]> => {
    sequence += 1;
    const write = deploymentWrite({
      sequence,
      version,
      jobId: `se_${version}`,
      bundleUrl: `${server.origin}/${version}`,
    });
    await createAirgapTarget(root).write(write, { site: 'docs', signal: new AbortController().signal });
    return (await readdir(join(root, 'docs'), { withFileTypes: true }))
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort();
  };
  try {
    for (const version of ['v1', 'v2', 'v3']) await deploy(version);
    await mkdir(join(root, 'docs', 'ours'));
    expect(await deploy('v4')).toEqual(['ours', 'v2', 'v3', 'v4']);
    // Going back makes a version the newest.
    expect(await deploy('v2')).toEqual(['ours', 'v2', 'v3', 'v4']);
    expect(await deploy('v5')).toEqual(['ours', 'v2', 'v4', 'v5']);
    const names = JSON.parse(await readFile(join(root, 'docs', 'latest'), 'utf8'));
    await mkdir(join(root, 'elsewhere'));
    await writeFile(join(root, 'docs', 'latest'), JSON.stringify({ ...names, earlier: ['v4', 'v2', '../elsewhere'] }));
    await deploy('v6');
    expect(await readdir(root)).toContain('elsewhere');
  } finally {
    await server.close();
  }
});

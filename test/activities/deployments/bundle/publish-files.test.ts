import { readFile } from 'node:fs/promises';
import { jest } from '@jest/globals';
import {
  type PublishedPlace,
  type PublishedState,
  publishFiles,
} from '../../../../activities/deployments/bundle/publish-files.ts';
import type { DeploymentReport, DeploymentWrite } from '../../../../activities/deployments/deployment-target.ts';
import { fencedOutcome } from '../../../../activities/deployments/write-order.ts';
import { buildBundle } from '../../../deployment/bundles.ts';
import { startHttpSite } from '../../../helpers/http-site.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { deploymentWrite } from '../deployment-write.ts';

const parent = temporaryFolder();

/** A bucket in memory: without folders and without locks. */
function createBucket() {
  const objects = new Map<string, string>();
  let state: PublishedState | null = null;
  const log: string[] = [];
  const placeOf = (write: DeploymentWrite): PublishedPlace => ({
    readState: async () => state,
    async writeState(next) {
      log.push(next.complete ? 'completed' : 'claimed');
      state = next;
    },
    async checkOwner() {
      if (state !== null && fencedOutcome(write, state) !== null) throw new Error('a newer write has begun');
    },
    findDamage: async () => new Set(),
    filesOf: ({ files }) => files,
    async put({ path }, source) {
      log.push(`put ${path}`);
      objects.set(path, await readFile(source, 'utf8'));
    },
    async remove(paths) {
      for (const path of paths) {
        log.push(`remove ${path}`);
        objects.delete(path);
      }
    },
  });
  return { objects, log, placeOf };
}

type Deploy = {
  place: (write: DeploymentWrite) => PublishedPlace;
  files: Record<string, string>;
  sequence: number;
  /** Runs while the bundle is requested. */
  meanwhile?: () => Promise<unknown>;
};

async function deploy({ place, files, sequence, meanwhile }: Deploy): Promise<DeploymentReport> {
  const bundle = await buildBundle({ files });
  const server = await startHttpSite(async (_, response) => {
    await meanwhile?.();
    response.end(bundle);
  });
  const bundleUrl = `${server.origin}/bundle.tar.gz`;
  const write = deploymentWrite({ sequence, bundleUrl });
  try {
    return await publishFiles(place(write), write, { parent, signal: new AbortController().signal });
  } finally {
    await server.close();
  }
}

describe('a bucket', () => {
  it('deletes nothing before a version is in place, also if a name was a folder', async () => {
    const { objects, log, placeOf: place } = createBucket();
    await deploy({ place, files: { 'docs/page.html': 'page', 'docs/a.css': 'a' }, sequence: 1 });
    log.length = 0;
    await deploy({ place, files: { docs: 'a file' }, sequence: 2 });
    expect(log).toEqual(['claimed', 'put docs', 'remove docs/page.html', 'completed']);
    await deploy({ place, files: { 'docs/page.html': 'page' }, sequence: 3 });
    expect([...objects.keys()].sort()).toEqual(['docs', 'docs/page.html']);
    await deploy({ place, files: { 'docs/page.html': 'page' }, sequence: 4 });
    expect([...objects.keys()]).toEqual(['docs/page.html']);
  });

  const died = (): Promise<void> => Promise.reject(new Error('died'));

  it.each([
    ['finishes', {}, ['claimed', 'put b', 'completed']],
    ['dies', { put: died }, ['claimed']],
  ])('gets nothing of a write if a newer one claims it meanwhile and %s', async (_, changes, expected) => {
    const { log, placeOf: place } = createBucket();
    const newer = (write: DeploymentWrite): PublishedPlace => ({ ...place(write), ...changes });
    const meanwhile = () => deploy({ place: newer, files: { b: '2' }, sequence: 2 }).catch(() => {});
    const older = deploy({ place, files: { a: '1' }, sequence: 1, meanwhile });
    await expect(older).rejects.toThrow('a newer write has begun');
    expect(log).toEqual(expected);
    expect(await deploy({ place, files: { a: '1' }, sequence: 1 })).toMatchObject({ outcome: 'superseded' });
  });

  it('gets no more files of a write five seconds after a newer one has claimed it', async () => {
    const { log, placeOf } = createBucket();
    const files = Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`${index}.txt`, 'x']));
    const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
    let newer: Promise<unknown> | undefined;
    const place = (write: DeploymentWrite): PublishedPlace => ({
      ...placeOf(write),
      async put(file, source) {
        newer ??= deploy({ place: placeOf, files: { b: '2' }, sequence: 2 });
        await newer;
        clock.mockReturnValue(5_000);
        await placeOf(write).put(file, source);
      },
    });
    try {
      await expect(deploy({ place, files, sequence: 1 })).rejects.toThrow('a newer write has begun');
      // Those that had begun.
      expect(log.filter((entry) => /^put .*txt$/.test(entry))).toHaveLength(16);
      expect(log.filter((entry) => entry === 'completed')).toHaveLength(1);
    } finally {
      clock.mockRestore();
    }
  });
});

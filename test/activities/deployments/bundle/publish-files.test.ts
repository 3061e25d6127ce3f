import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { jest } from '@jest/globals';
import {
  type NewFile,
  type PublishedPlace,
  type PublishedState,
  publishFiles,
} from '../../../../activities/deployments/bundle/publish-files.ts';
import { createStaging, dropOldStaging } from '../../../../activities/deployments/bundle/staging.ts';
import type { DeploymentReport, DeploymentWrite } from '../../../../activities/deployments/deployment-target.ts';
import { fencedOutcome } from '../../../../activities/deployments/write-order.ts';
import { readBundleHead } from '../../../../bundle/read-bundle.ts';
import { readHeadLength } from '../../../../contract/bundle-head.ts';
import { integrityOf } from '../../../../contract/integrity.ts';
import { buildBundle, manifestOf, sha256 } from '../../../deployment/bundles.ts';
import { buildMemberBundle } from '../../../deployment/member-bundle.ts';
import { startHttpSite } from '../../../helpers/http-site.ts';
import { RangeStore } from '../../../helpers/range-store.ts';
import { waitFor } from '../../../helpers/system/wait-for.ts';
import { emptiedFolder } from '../../../helpers/temporary-folder.ts';
import { deploymentWrite } from '../deployment-write.ts';

const folder = emptiedFolder();

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
    findDamage: async ({ files }) => new Set(Object.keys(files).filter((path) => !objects.has(path))),
    holds: async ({ path, sha256: wanted }) => sha256(objects.get(path) ?? '') === wanted,
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
  integrity?: string;
  /** Runs while the bundle is requested. */
  meanwhile?: () => Promise<unknown>;
};

async function deploy({ place, files, sequence, integrity, meanwhile }: Deploy): Promise<DeploymentReport> {
  const bundle = await buildBundle({ files });
  const server = await startHttpSite(async (_, response) => {
    await meanwhile?.();
    response.end(bundle);
  });
  const bundleUrl = `${server.origin}/bundle.tar.gz`;
  const write = deploymentWrite({ sequence, bundleUrl, integrity });
  try {
    const staging = createStaging(join(folder, `staging-${sequence}`));
    return await publishFiles(place(write), write, { staging, signal: new AbortController().signal });
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

  it('gets nothing of a bundle whose manifest is not the one that the service reported', async () => {
    const { log, placeOf: place } = createBucket();
    const files = { 'a.html': 'page' };
    const integrity = integrityOf(sha256(JSON.stringify(manifestOf({ files }))));
    const other = deploy({ place, files: { 'a.html': 'evil' }, sequence: 1, integrity });
    await expect(other).rejects.toThrow('its manifest is not the one that the service reported');
    expect(log).toEqual([]);
    expect(await deploy({ place, files, sequence: 1, integrity })).toMatchObject({ outcome: 'written' });
  });

  const died = (): Promise<void> => Promise.reject(new Error('died'));

  it.each([
    ['finishes', {}, ['claimed', 'put b', 'completed']],
    ['fails', { put: died }, ['claimed', 'claimed']],
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

/** Sites whose members are too large to be fetched together with their neighbours. */
const texts = Object.fromEntries(
  ['a.css', 'b.css', 'c.html', 'd.html', 'e.html'].map((path) => [path, randomBytes(3_000).toString('base64')]),
);
const VERSIONS = {
  x: texts,
  y: { ...texts, 'd.html': randomBytes(3_000).toString('base64'), 'copy.css': texts['a.css'] ?? '' },
};

/** One bucket, written to by one worker after the other, which share a staging folder. */
async function startWorkers() {
  const store = new RangeStore();
  for (const [name, files] of Object.entries(VERSIONS)) {
    store.bodies.set(`/${name}`, await buildMemberBundle({ files, jobId: `se_${name}` }));
  }
  const site = await startHttpSite((request, response) => store.respond(request, response));
  const bucket = createBucket();
  let sequence = 0;
  return {
    ...bucket,
    store,
    close: () => site.close(),
    async write(version: keyof typeof VERSIONS, changes: Partial<PublishedPlace> = {}, abort = new AbortController()) {
      const bundleUrl = `${site.origin}/${version}`;
      const write = deploymentWrite({ sequence: ++sequence, jobId: `se_${version}`, version, bundleUrl });
      const place = { ...bucket.placeOf(write), ...changes };
      const staging = createStaging(join(folder, 'staging'));
      return await publishFiles(place, write, { staging, signal: abort.signal });
    },
    /** What a place does that stops after this many files, at the last one before or after it is there. */
    stopping(afterFiles: number, isLastThere: boolean, stop: () => void) {
      const { put } = bucket.placeOf(deploymentWrite());
      const begun: string[] = [];
      return {
        begun,
        async put(file: NewFile, source: string) {
          const number = begun.push(file.path);
          if (number < afterFiles || (number === afterFiles && isLastThere)) await put(file, source);
          if (number < afterFiles) return;
          stop();
          throw new Error('stopped');
        },
      };
    },
  };
}

const PUTS = Object.keys(texts).map((path) => `put ${path}`);
const putsIn = (log: readonly string[]): string[] => log.filter((entry) => entry.startsWith('put ')).sort();

describe('an interrupted write', () => {
  let workers: Awaited<ReturnType<typeof startWorkers>>;
  beforeEach(async () => {
    workers = await startWorkers();
  });
  afterEach(() => workers.close());

  const points = PUTS.flatMap((_, index) => [
    { afterFiles: index + 1, isLastThere: false },
    { afterFiles: index + 1, isLastThere: true },
  ]);

  it.each(points)('is continued, canceled at file $afterFiles (it is there: $isLastThere)', async (point) => {
    const { write, stopping, store, log, objects, placeOf } = workers;
    const abort = new AbortController();
    const { put, begun } = stopping(point.afterFiles, point.isLastThere, () => abort.abort(new Error('canceled')));
    await expect(write('x', { put }, abort)).rejects.toThrow();
    store.requests = 0;
    const holds: PublishedPlace['holds'] = async (file) => {
      expect(begun).toContain(file.path);
      return await placeOf(deploymentWrite()).holds(file);
    };
    expect(await write('x', { holds })).toMatchObject({ outcome: 'written' });
    // The archive's head.
    expect(store.requests).toBe(1);
    expect(putsIn(log)).toEqual(PUTS);
    expect(Object.fromEntries(objects)).toEqual(texts);
    expect(await readdir(folder)).toEqual([]);
  });

  it.each(points)('is continued, killed at file $afterFiles (it is there: $isLastThere)', async (point) => {
    const { write, stopping, store, log, placeOf } = workers;
    let isDead = false;
    const { put } = stopping(point.afterFiles, point.isLastThere, () => {
      isDead = true;
    });
    const writeState: PublishedPlace['writeState'] = async (state) => {
      if (isDead) throw new Error('killed');
      await placeOf(deploymentWrite()).writeState(state);
    };
    await expect(write('x', { put, writeState })).rejects.toThrow('stopped');
    store.requests = 0;
    expect(await write('x')).toMatchObject({ outcome: 'written' });
    expect(store.requests).toBe(1);
    expect(putsIn(log)).toEqual(PUTS);
  });

  it('gives the next version what both need', async () => {
    const { write, stopping, store, log, objects } = workers;
    const { put } = stopping(3, true, () => {});
    await expect(write('x', { put })).rejects.toThrow('stopped');
    expect(await readdir(join(folder, 'staging'))).toContain(sha256(texts['d.html'] ?? ''));
    const ranges: string[] = [];
    store.intercept = async ({ request, start }) => {
      ranges.push(`${request.headers.range}`);
      if (start > 0) expect(await readdir(join(folder, 'staging'))).not.toContain(sha256(texts['d.html'] ?? ''));
      return false;
    };
    log.length = 0;
    await write('y');
    // Its head, and the one page that has changed.
    expect(ranges).toHaveLength(2);
    expect(putsIn(log)).toEqual(['put copy.css', 'put d.html', 'put e.html']);
    expect(Object.fromEntries(objects)).toEqual(VERSIONS.y);
  });

  it('ends although each one is canceled after the next member, and fetches none twice', async () => {
    const { write, store, objects } = workers;
    const archive = store.bodies.get('/x') ?? Buffer.alloc(0);
    const { files } = JSON.parse((await readBundleHead(Readable.from([archive]))).manifest.toString());
    const headBytes = readHeadLength(archive) ?? 0;
    const fetched: number[] = [];
    store.intercept = ({ response, start, end }) => {
      if (start === 0) return false;
      fetched.push(start);
      const { length } = files.find(({ offset }: { offset: number }) => headBytes + offset === start);
      const range = `bytes ${start}-${end - 1}/${archive.length}`;
      response.writeHead(206, { 'content-range': range, 'content-length': end - start });
      response.write(archive.subarray(start, start + length));
      if (start + length === end) response.end();
      return true;
    };
    for (let members = 1; members < files.length; members++) {
      const abort = new AbortController();
      const writing = write('x', {}, abort);
      const isStaged = async () => (await readdir(join(folder, 'staging'))).length === members;
      await waitFor(isStaged, { describe: 'one more member is staged' });
      abort.abort(new Error('canceled'));
      await expect(writing).rejects.toThrow('canceled');
      expect(objects.size).toBe(0);
    }
    await write('x');
    expect(fetched).toEqual(files.map(({ offset }: { offset: number }) => headBytes + offset));
    expect(Object.fromEntries(objects)).toEqual(texts);
  });
});

test('staged files that are damaged are fetched again, and those of a place that is no longer written to are removed', async () => {
  const workers = await startWorkers();
  try {
    await expect(
      workers.write(
        'x',
        workers.stopping(1, false, () => {}),
      ),
    ).rejects.toThrow('stopped');
    const [damaged = ''] = await readdir(join(folder, 'staging'));
    await writeFile(join(folder, 'staging', damaged), 'half');
    workers.store.requests = 0;
    await workers.write('x');
    expect(workers.store.requests).toBe(2);
    expect(Object.fromEntries(workers.objects)).toEqual(texts);
  } finally {
    await workers.close();
  }
  await mkdir(join(folder, 'of-today'));
  await mkdir(join(folder, 'of-last-month'));
  await utimes(join(folder, 'of-last-month'), 0, 0);
  await dropOldStaging(folder);
  expect(await readdir(folder)).toEqual(['of-today']);
});

import { randomBytes } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  DeploymentReport,
  DeploymentTarget,
  DeploymentWrite,
} from '../../../../activities/deployments/deployment-target.ts';
import { bundlePathOf } from '../../../../bundle/fetch/link.ts';
import { TARGETS, type TargetKind } from '../../../../contract/target-kind.ts';
import { sha256, siteOf } from '../../../deployment/bundles.ts';
import { buildMemberBundle } from '../../../deployment/member-bundle.ts';
import { type HttpSite, startHttpSite } from '../../../helpers/http-site.ts';
import { RangeStore } from '../../../helpers/range-store.ts';
import { waitFor } from '../../../helpers/system/wait-for.ts';
import { deploymentWrite } from '../deployment-write.ts';

/** A target on real parts. */
export type TargetFixture = {
  target: DeploymentTarget;
  /** The version that the target's place has now, as its users get it; null for none. */
  version(): Promise<string | null>;
  /** Changes when anything in the place does. */
  fingerprint(): Promise<string>;
  /** Lets the next writes fail, by a fault outside of Galley. */
  fail(): Promise<void>;
  repair(): Promise<void>;
  /** Lets the next write wait until it is canceled or repaired. Resolves `reached` once it waits. */
  hang(): Promise<{ reached(): boolean }>;
  /** The bytes on their way to the place; missing if it gets no files. */
  stagedBytes?(): Promise<number>;
  close?(): Promise<void>;
};

export type BundleServer = HttpSite & {
  linkOf(version: string): string;
  /** `fail`: 403, as an expired link. `stall`: half of what is requested beyond the archive's head, and no end. */
  mode: 'serve' | 'fail' | 'hang' | 'stall';
  hanging: boolean;
  /** The first byte of each response beyond the archive's head. */
  starts: number[];
};

/** A part of each link that must appear nowhere. */
const SECRET = 'signature=very-secret';

/** What a worker requests first of an archive that it can read in parts. */
const HEAD_RANGE = 'bytes=0-16383';

/** Serves the bundle of any version at a presigned link, with ranges. */
export async function startBundleServer(): Promise<BundleServer> {
  const store = new RangeStore();
  store.intercept = ({ request, response, body, start, end }) => {
    const { range } = request.headers;
    if (range === HEAD_RANGE) return false;
    server.starts.push(start);
    if (server.mode !== 'stall') return false;
    const about = { etag: `"${sha256(body)}"`, 'content-length': end - start };
    const part = range && { 'content-range': `bytes ${start}-${end - 1}/${body.length}` };
    response.writeHead(range === undefined ? 200 : 206, { ...about, ...part });
    response.write(body.subarray(start, Math.ceil((start + end) / 2)));
    return true;
  };
  const site = await startHttpSite(async (request, response) => {
    if (server.mode === 'hang') {
      server.hanging = true;
      return;
    }
    const { pathname } = new URL(request.url ?? '', 'http://bundles.test');
    if (!store.bodies.has(pathname)) store.bodies.set(pathname, await buildMemberBundle(bundleOf(pathname.slice(1))));
    if (server.mode === 'fail') response.writeHead(403).end();
    else await store.respond(request, response);
  });
  const server: BundleServer = Object.assign(site, {
    linkOf: (version: string) => `${site.origin}/${version}?${SECRET}`,
    mode: 'serve' as const,
    hanging: false,
    starts: [],
  });
  return server;
}

/** Large enough that a response can stop between two of them. */
const pictures = Object.fromEntries(Array.from({ length: 4 }, (_, index) => [`img/${index}.png`, randomBytes(20_000)]));

function bundleOf(version: string) {
  return {
    ...siteOf(version, {
      [`assets/app-${version}.css`]: `/* ${version} */`,
      'assets/same.css': '/* same */',
      ...(version === 'v2' && pictures),
    }),
    jobId: `se_${version}`,
    redirects: [{ from: '/old/start', to: '/guides/start', status: 301 }],
  };
}

/** The size of all files in a folder; 0 if it is missing. */
export async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** The fixtures of a target whose place gets the bundle: its faults are those of the link. */
export function faultsOfBundles(bundles: BundleServer): Pick<TargetFixture, 'fail' | 'repair' | 'hang'> {
  return {
    async fail() {
      bundles.mode = 'fail';
    },
    async repair() {
      bundles.mode = 'serve';
    },
    async hang() {
      bundles.mode = 'hang';
      bundles.hanging = false;
      return { reached: () => bundles.hanging };
    },
  };
}

/**
 * What every kind of target does. A deploy hook gets each message, so it can't be asked what is older (`remembers`). Sites
 * may share it, and the folder of `airgap`, so neither has an owner (`isOwned`).
 */
export function describeTarget(
  kind: TargetKind,
  start: (bundles: BundleServer) => Promise<TargetFixture>,
  { remembers = true, isOwned = remembers }: { remembers?: boolean; isOwned?: boolean } = {},
): void {
  describe(`a target of the kind ${kind}`, () => {
    const bundles = use(startBundleServer);
    let fixture: TargetFixture;
    let sequence = 0;

    beforeEach(async () => {
      bundles().mode = 'serve';
      fixture = await start(bundles());
    });
    afterEach(async () => await fixture.close?.());

    function writeOf(version: string, changes: Partial<DeploymentWrite> = {}): DeploymentWrite {
      const about = { sequence: ++sequence, jobId: `se_${version}`, version, bundleUrl: bundles().linkOf(version) };
      return deploymentWrite({ ...about, createdAt: null, ...changes });
    }
    const deploy = (write: DeploymentWrite, signal = new AbortController().signal): Promise<DeploymentReport> =>
      fixture.target.write(write, { site: write.site, signal });

    it('gets a version, and the same write again changes nothing', async () => {
      const write = writeOf('v1');
      const { site, epoch, expiresAt, lifetimeMs } = write;
      const owner = { site, epoch, sequence: write.sequence, expiresAt, lifetimeMs };
      const bundlePath = bundlePathOf(write.bundleUrl);
      const written = { outcome: 'written', pin: null, off: false, jobId: 'se_v1', owner, bundlePath };
      expect(await deploy(write)).toEqual(written);
      expect(await fixture.version()).toBe('v1');
      const before = await fixture.fingerprint();
      expect(await deploy(write)).toEqual(written);
      expect(await fixture.fingerprint()).toBe(before);
    });

    it('replaces a version by the next, and takes an earlier one back', async () => {
      await deploy(writeOf('v1'));
      await deploy(writeOf('v2'));
      expect(await fixture.version()).toBe('v2');
      await deploy(writeOf('v1', { rolledBack: true }));
      expect(await fixture.version()).toBe('v1');
    });

    if (remembers) {
      it('rejects a write that comes later than a newer one', async () => {
        const late = writeOf('v1');
        await deploy(writeOf('v2', { createdAt: '2026-11-21T08:00:00Z' }));
        expect(await deploy(late)).toMatchObject({ outcome: 'superseded', jobId: 'se_v2' });
        const older = writeOf('v0', { createdAt: '2026-11-20T08:00:00Z' });
        expect(await deploy(older)).toMatchObject({ outcome: 'older', jobId: 'se_v2' });
        expect(await fixture.version()).toBe('v2');
      });
    }

    if (isOwned) {
      it('belongs to one site, until another one takes it over from the owner that it has seen', async () => {
        const first = await deploy(writeOf('v1', { epoch: 7 }));
        const blog = { site: 'blog', epoch: 1 };
        const before = await fixture.fingerprint();
        for (const changes of [
          { ...blog, epoch: 9 },
          { ...blog, takeover: { site: 'docs', epoch: 7, sequence: 0 } },
        ]) {
          const refused = { outcome: 'foreign', jobId: 'se_v1', owner: first.owner };
          expect(await deploy(writeOf('v2', changes))).toMatchObject(refused);
        }
        expect(await fixture.fingerprint()).toBe(before);
        const taking = writeOf('v2', { ...blog, takeover: first.owner ?? undefined });
        const taken = await deploy(taking);
        expect(taken).toMatchObject({ outcome: 'written', owner: { site: 'blog', epoch: 8 } });
        expect(await fixture.version()).toBe('v2');
        expect(await deploy(taking)).toEqual(taken);
        // A late attempt of the former owner, whose seen owner is gone, and an ordinary write of the new one.
        const late = { epoch: 7, takeover: first.owner ?? undefined };
        expect(await deploy(writeOf('v1', late))).toMatchObject({ outcome: 'foreign', owner: taken.owner });
        const next = await deploy(writeOf('v3', { ...blog, epoch: 8 }));
        expect(next).toMatchObject({ outcome: 'written', owner: { site: 'blog', epoch: 8 } });
        const back = await deploy(writeOf('v1', { epoch: 7, takeover: next.owner ?? undefined }));
        expect(back).toMatchObject({ outcome: 'written', owner: { site: 'docs', epoch: 9 } });
        expect(await fixture.version()).toBe('v1');
      });
    }

    // A link is written in one step.
    const itOfFiles = TARGETS[kind].keepsLink ? () => {} : it;
    itOfFiles('continues a canceled write where it stopped, and shows nothing of it before', async () => {
      const { stagedBytes } = fixture;
      if (stagedBytes === undefined) throw new Error('the fixture of a target of files must have stagedBytes');
      await deploy(writeOf('v0'));
      const before = await fixture.fingerprint();
      const server = bundles();
      Object.assign(server, { mode: 'stall', starts: [] });
      const abort = new AbortController();
      const write = writeOf('v2');
      const canceled = deploy(write, abort.signal).catch((error: unknown) => error);
      await waitFor(async () => (await stagedBytes()) > 1_000, { describe: 'something is staged' });
      abort.abort(new Error('canceled'));
      expect(await canceled).toEqual(new Error('canceled'));
      expect(await fixture.version()).toBe('v0');
      expect(await fixture.fingerprint()).toBe(before);
      const [first] = server.starts;
      Object.assign(server, { mode: 'serve', starts: [] });
      expect(await deploy(write)).toMatchObject({ outcome: 'written' });
      expect(await fixture.version()).toBe('v2');
      expect(server.starts).not.toEqual([]);
      expect(Math.min(...server.starts)).toBeGreaterThan(first ?? 0);
      expect(await stagedBytes()).toBe(0);
    });

    it('fails with a reason and without the link, and succeeds once the fault is gone', async () => {
      await deploy(writeOf('v1'));
      await fixture.fail();
      const write = writeOf('v2');
      const error = await deploy(write).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(Error);
      expect(error).not.toHaveProperty('nonRetryable', true);
      expect(String(error)).toMatch(/\S{3,}/);
      expect(String(error)).not.toContain(SECRET);
      await fixture.repair();
      expect(await fixture.version()).toBe('v1');
      expect(await deploy(write)).toMatchObject({ outcome: 'written' });
      expect(await fixture.version()).toBe('v2');
    });

    it('ends a canceled write at once, and the next one succeeds', async () => {
      await deploy(writeOf('v1'));
      const { reached } = await fixture.hang();
      const abort = new AbortController();
      const write = deploy(writeOf('v2'), abort.signal).then(
        () => 'written',
        () => 'canceled',
      );
      await waitFor(reached, { describe: 'the write waits' });
      abort.abort(new Error('canceled'));
      expect(await write).toBe('canceled');
      await fixture.repair();
      await deploy(writeOf('v3'));
      expect(await fixture.version()).toBe('v3');
    });
  });
}

function use<T extends { close(): Promise<void> }>(start: () => Promise<T>): () => T {
  let started: T | undefined;
  beforeAll(async () => {
    started = await start();
  });
  afterAll(async () => await started?.close());
  return () => {
    if (started === undefined) throw new Error('used before it started');
    return started;
  };
}

import { chmod, mkdir, readdir, readFile, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { parse } from 'yaml';
import { createDeploymentActivities } from '../../../activities/deployments/activities.ts';
import type { DeploymentWrite, Owner } from '../../../activities/deployments/deployment-target.ts';
import { readSidecar, sidecarPath, writeSidecar } from '../../../activities/deployments/sidecar.ts';
import { createValuesFileTarget } from '../../../activities/deployments/values-file.ts';
import { errorText } from '../../../base/error-code.ts';
import { sha256Hex } from '../../../base/sha256.ts';
import { emptiedFolder } from '../../helpers/temporary-folder.ts';
import { activityEnvironment, failureOf } from '../activity-environment.ts';
import { deploymentWrite, EXPIRES_AT, LIFETIME_MS } from './deployment-write.ts';

const folder = emptiedFolder();
let path: string;

beforeEach(async () => {
  path = join(folder, 'values.yaml');
});

function write(changes: Partial<DeploymentWrite> = {}): DeploymentWrite {
  const { sequence = 1, jobId = 'job-1' } = changes;
  const about = {
    jobId,
    version: jobId.replace('job-', 'v'),
    bundleUrl: `https://objects.test/${jobId}?n=${sequence}`,
  };
  return deploymentWrite({ epoch: 1_000, ...about, ...changes });
}

/** What a report and the sidecar say of such a write. */
function ownerOf(changes: Partial<Owner> = {}): Owner {
  return { site: 'docs', epoch: 1_000, sequence: 1, expiresAt: EXPIRES_AT, lifetimeMs: LIFETIME_MS, ...changes };
}

async function link(): Promise<unknown> {
  const values: unknown = parse(await readFile(path, 'utf8'));
  const group: unknown = typeof values === 'object' && values !== null ? Reflect.get(values, 'staticExport') : null;
  return typeof group === 'object' && group !== null ? Reflect.get(group, 'bundleUrl') : undefined;
}

describe('a values file', () => {
  it('of more than 1 MiB is neither read nor changed', async () => {
    const sizeBytes = 3 * 1024 ** 3;
    await writeFile(path, '');
    await truncate(path, sizeBytes);
    const refusal = `expected at most 1 MiB, not ${sizeBytes} bytes`;
    await expect(createValuesFileTarget(path).write(write())).rejects.toThrow(refusal);
    await expect(createValuesFileTarget(path).readSwitches()).rejects.toThrow(refusal);
    expect(await stat(path)).toMatchObject({ size: sizeBytes });
    expect(await readSidecar(path)).toBeNull();
  });

  it('is created with its folder, and enabled, if it does not exist', async () => {
    path = join(folder, 'deep', 'er', 'values.yaml');
    const report = await createValuesFileTarget(path).write(write());
    const bundlePath = sha256Hex('https://objects.test/job-1');
    const written = { outcome: 'written', pin: null, off: false, jobId: 'job-1', owner: ownerOf(), bundlePath };
    expect(report).toEqual(written);
    expect(parse(await readFile(path, 'utf8'))).toEqual({
      staticExport: { enabled: true, bundleUrl: 'https://objects.test/job-1?n=1' },
    });
    expect((await readdir(join(folder, 'deep', 'er'))).sort()).toEqual(['values.yaml', 'values.yaml.galley.json']);
  });

  it('keeps its mode and owner, and stays the target of a symbolic link', async () => {
    const real = join(folder, 'real.yaml');
    await writeFile(real, 'a: 1\n');
    await chmod(real, 0o640);
    await symlink(real, path);
    const before = await stat(real);
    await createValuesFileTarget(path).write(write());
    const after = await stat(real);
    expect([after.mode, after.uid, after.gid]).toEqual([before.mode, before.uid, before.gid]);
    expect(await readFile(real, 'utf8')).toContain('bundleUrl');
    expect(await link()).toBe('https://objects.test/job-1?n=1');
  });

  it('is never overwritten by an older write, even from another workflow run chain', async () => {
    const target = createValuesFileTarget(path);
    await target.write(write({ sequence: 5, jobId: 'job-5' }));
    const late = await target.write(write({ sequence: 4, jobId: 'job-4' }));
    const older = await target.write(write({ epoch: 999, sequence: 50, jobId: 'job-50' }));
    const owner = ownerOf({ sequence: 5 });
    expect([late, older]).toEqual(
      Array(2).fill({ outcome: 'superseded', pin: null, off: false, jobId: 'job-5', owner, bundlePath: null }),
    );
    expect(await link()).toBe('https://objects.test/job-5?n=5');
    expect(await target.write(write({ epoch: 2_000, sequence: 1, jobId: 'job-6' }))).toMatchObject({
      outcome: 'written',
    });
  });

  it('never gets an older job than its newest one, unless a person requested it', async () => {
    const target = createValuesFileTarget(path);
    const of = (day: number, changes: Partial<DeploymentWrite>): DeploymentWrite =>
      write({ jobId: `job-${day}`, createdAt: `2026-11-${day}T08:00:00.000Z`, ...changes });
    await target.write(of(20, { sequence: 1 }));
    await target.write(of(22, { sequence: 2 }));
    // A workflow that was reset repeats an old write, also after it has caught up with its own writes.
    for (const sequence of [2, 3]) {
      const refused = { outcome: 'older', jobId: 'job-22', owner: ownerOf({ sequence: 2 }) };
      expect(await target.write(of(21, { sequence }))).toMatchObject(refused);
    }
    expect(await target.write(of(20, { sequence: 4, rolledBack: true }))).toMatchObject({ outcome: 'written' });
    expect(await target.write(of(21, { sequence: 5 }))).toMatchObject({ outcome: 'older', jobId: 'job-20' });
    expect(await target.write(of(22, { sequence: 6 }))).toMatchObject({ outcome: 'written' });
    expect(await target.write(of(23, { sequence: 7, createdAt: null }))).toMatchObject({ outcome: 'written' });
  });

  it('gets an older job from a site that takes it over, and nothing of it but its own after that', async () => {
    const target = createValuesFileTarget(path);
    const old = { jobId: 'job-9', createdAt: '2026-11-22T08:00:00.000Z' };
    const { owner } = await target.write(write({ ...old, sequence: 3 }));
    const taking = { site: 'blog', takeover: owner ?? undefined, createdAt: '2026-11-20T08:00:00.000Z' };
    expect(await target.write(write({ ...taking, kind: 'refresh' }))).toMatchObject({ outcome: 'superseded', owner });
    expect(await target.write(write(taking))).toMatchObject({ outcome: 'written' });
    const older = { site: 'blog', epoch: 1_001, sequence: 2, createdAt: '2026-11-19T08:00:00.000Z' };
    expect(await target.write(write(older))).toMatchObject({ outcome: 'older' });
  });

  it('is taken over by a restored workflow from its own later writes', async () => {
    const target = createValuesFileTarget(path);
    await target.write(write({ epoch: 2_000, sequence: 9 }));
    const { outcome, owner } = await target.write(write({ sequence: 1 }));
    expect(outcome).toBe('superseded');
    const again = await target.write(write({ sequence: 2, takeover: owner ?? undefined }));
    expect(again).toMatchObject({ outcome: 'written', owner: ownerOf({ epoch: 2_001, sequence: 2 }) });
  });

  it('gets fresh links but stays disabled after an operator disabled it', async () => {
    const target = createValuesFileTarget(path);
    const turn = async (from: boolean, to: boolean): Promise<void> =>
      await writeFile(path, (await readFile(path, 'utf8')).replace(`enabled: ${from}`, `enabled: ${to}`));
    await writeFile(path, 'staticExport:\n  enabled: false\n');
    expect(await target.write(write({ sequence: 1 }))).toMatchObject({ outcome: 'written', off: false });
    await turn(true, false);
    for (const sequence of [2, 3]) {
      const report = await target.write(write({ sequence, jobId: `job-${sequence}` }));
      expect(report).toMatchObject({ outcome: 'written', off: true });
      expect(await readFile(path, 'utf8')).toContain('enabled: false');
      expect(await link()).toBe(`https://objects.test/job-${sequence}?n=${sequence}`);
    }
    expect(await target.readSwitches()).toEqual({ pin: null, off: true });
    await turn(false, true);
    expect(await target.write(write({ sequence: 4, jobId: 'job-4' }))).toMatchObject({ off: false });
    expect(await readFile(path, 'utf8')).toContain('enabled: true');
  });

  it('is enabled by its first deployment, also after an interrupted attempt', async () => {
    await writeFile(path, 'staticExport:\n  enabled: false\n');
    const lost = { jobId: 'job-1', version: 'v1', newestJobAt: null, enabling: true };
    await writeSidecar(path, { ...ownerOf(), ...lost });
    expect(await createValuesFileTarget(path).write(write({ sequence: 2 }))).toMatchObject({ off: false });
    expect(await readFile(path, 'utf8')).toContain('enabled: true');
    expect(await readSidecar(path)).toMatchObject({ sequence: 2, enabling: false });
  });

  it('also stays disabled without its sidecar if the site has deployed to it before', async () => {
    await writeFile(path, 'staticExport:\n  enabled: false\n');
    const report = await createValuesFileTarget(path).write(write({ deployedBefore: true }));
    expect(report).toMatchObject({ outcome: 'written', off: true });
    expect(await readFile(path, 'utf8')).toContain('enabled: false');
  });

  it('accepts the same write twice', async () => {
    const target = createValuesFileTarget(path);
    await target.write(write());
    await writeFile(path, 'staticExport: {enabled: false}\n');
    expect(await target.write(write())).toMatchObject({ outcome: 'written' });
    expect(await link()).toBe('https://objects.test/job-1?n=1');
  });

  it('accepts a refresh only for the deployed job, and is not enabled by it', async () => {
    const target = createValuesFileTarget(path);
    await target.write(write({ sequence: 1, jobId: 'job-1' }));
    await target.write(write({ sequence: 2, jobId: 'job-2' }));
    const stale = await target.write(write({ sequence: 3, jobId: 'job-1', kind: 'refresh' }));
    expect(stale).toMatchObject({ outcome: 'superseded', jobId: 'job-2' });
    await writeFile(path, (await readFile(path, 'utf8')).replace('enabled: true', 'enabled: false'));
    await target.write(write({ sequence: 4, jobId: 'job-2', kind: 'refresh' }));
    expect(await link()).toBe('https://objects.test/job-2?n=4');
    expect(await readFile(path, 'utf8')).toContain('enabled: false');
  });

  it('is held by a pin to another version: only the pinned version is written', async () => {
    const target = createValuesFileTarget(path);
    await target.write(write({ sequence: 1, jobId: 'job-1' }));
    await writeFile(path, `${await readFile(path, 'utf8')}  version: v1\n`);
    expect(await target.write(write({ sequence: 2, jobId: 'job-2' }))).toMatchObject({
      outcome: 'held',
      pin: 'v1',
      jobId: 'job-1',
    });
    expect(await target.write(write({ sequence: 3, jobId: 'job-1', newest: false }))).toMatchObject({
      outcome: 'written',
    });
    expect(await link()).toBe('https://objects.test/job-1?n=3');
    await writeFile(path, (await readFile(path, 'utf8')).replace('version: v1', 'version: v9'));
    expect(await target.write(write({ sequence: 4, jobId: 'job-1', newest: false }))).toMatchObject({
      outcome: 'unpinned',
      pin: 'v9',
    });
  });

  it('is not reported as changed again and again because its pin is longer than the workflow keeps', async () => {
    await writeFile(path, `staticExport: {version: "${'7'.repeat(201)}"}\n`);
    const logger = pino({ level: 'silent' });
    const { waitForPinChange } = createDeploymentActivities({ logger, readSite: () => undefined });
    const kept = { valuesFile: path, pin: '7'.repeat(200), off: false };
    const waiting = activityEnvironment().run(waitForPinChange, [kept]);
    expect((await failureOf(waiting)).type).toBe('PinUnchanged');
  });

  it('keeps its job if it is pinned and the service returns no versions', async () => {
    const target = createValuesFileTarget(path);
    await writeFile(path, 'staticExport: {version: "1"}\n');
    expect(await target.write(write({ version: null }))).toMatchObject({ outcome: 'written' });
    expect(await target.write(write({ sequence: 2, jobId: 'job-2', version: null }))).toMatchObject({
      outcome: 'held',
      jobId: 'job-1',
    });
  });

  it.each([
    '{"epoch": 1',
    '{"epoch": 9000, "sequence": 1, "jobId": "job-0", "version": null, "newestJobAt": null, "enabling": false}',
  ])('is written with the damaged or old sidecar %s, which is recreated', async (text) => {
    await writeFile(sidecarPath(path), text);
    const takeover = { site: 'blog', epoch: 1, sequence: 1 };
    expect(await createValuesFileTarget(path).write(write({ site: 'shop', takeover }))).toMatchObject({
      outcome: 'written',
    });
    await writeFile(sidecarPath(path), text);
    expect(await createValuesFileTarget(path).write(write())).toMatchObject({ outcome: 'written' });
    const { jobId, version } = write();
    expect(await readSidecar(path)).toEqual({ ...ownerOf(), jobId, version, newestJobAt: null, enabling: false });
  });

  it('is not changed, and neither is its sidecar, if it is invalid YAML', async () => {
    await writeFile(path, 'a: [1\n');
    await expect(createValuesFileTarget(path).write(write())).rejects.toThrow(/not valid YAML/);
    expect(await readFile(path, 'utf8')).toBe('a: [1\n');
    expect(await readSidecar(path)).toBeNull();
  });

  it.each<[string, (path: string) => Promise<unknown>]>([
    ['is invalid YAML', (file) => writeFile(file, 'a: [1\n')],
    ['is a folder', (file) => mkdir(file)],
    ['has a sidecar that is a folder', (file) => mkdir(sidecarPath(file))],
    ['can’t be resolved', (file) => symlink(file, file)],
  ])('has its path once in the error if it %s', async (_, spoil) => {
    path = join(folder, 'within', 'values.yaml');
    await mkdir(dirname(path));
    const logger = pino({ level: 'silent' });
    const { writeDeployment } = createDeploymentActivities({ logger, readSite: () => undefined });
    await spoil(path);
    const error: unknown = await activityEnvironment()
      .run(writeDeployment, { ...write(), valuesFile: path })
      .catch((reason: unknown) => reason);
    expect(errorText(error).split(path)).toHaveLength(2);
  });

  it('contains the newest write after many concurrent writers, and is complete at every moment', async () => {
    await writeFile(path, '# kept\nstaticExport:\n  enabled: true\n');
    const sequences = [7, 3, 9, 1, 8, 2, 10, 5, 4, 6];
    let done = false;
    const reading = (async () => {
      while (!done) {
        expect(await readFile(path, 'utf8')).toMatch(/^# kept\nstaticExport:\n {2}enabled: true\n/);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })();
    await Promise.all(
      sequences.map((sequence) => createValuesFileTarget(path).write(write({ sequence, jobId: `job-${sequence}` }))),
    );
    done = true;
    await reading;
    expect(await link()).toBe('https://objects.test/job-10?n=10');
    expect((await readdir(folder)).sort()).toEqual(['values.yaml', 'values.yaml.galley.json']);
  });

  it('can be written after a writer was killed while it held the lock', async () => {
    const lock = `${path}.lock`;
    await mkdir(lock);
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(lock, longAgo, longAgo);
    expect(await createValuesFileTarget(path).write(write())).toMatchObject({ outcome: 'written' });
  });
});

describe('a missing folder', () => {
  it('is created beside galley.yaml only', async () => {
    const createUnder = join(folder, 'galley');
    const inside = createValuesFileTarget(join(createUnder, 'values', 'docs.yaml'), { createUnder });
    expect(await inside.write(write())).toMatchObject({ outcome: 'written' });
    const outside = createValuesFileTarget(join(folder, 'mount', 'docs.yaml'), { createUnder });
    await expect(outside.write(write())).rejects.toThrow(`the folder ${join(folder, 'mount')} is missing`);
    await mkdir(join(folder, 'mount'));
    expect(await outside.write(write())).toMatchObject({ outcome: 'written' });
  });
});

import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { createDeploymentActivities } from '../../../activities/deployments/activities.ts';
import { makeHangingFile } from '../../helpers/hanging-file.ts';
import { emptiedFolder } from '../../helpers/temporary-folder.ts';
import { activityEnvironment, failureOf } from '../activity-environment.ts';
import { deploymentWrite } from './deployment-write.ts';

const folder = emptiedFolder();

/** More than this process has threads for files. */
const HANGING = 12;

const { writeDeployment, readSwitches } = createDeploymentActivities({
  logger: pino({ level: 'silent' }),
  readSite: () => undefined,
});

function write(valuesFile: string, sequence = 1) {
  const bundleUrl = `https://objects.test/job?n=${sequence}`;
  return activityEnvironment().run(writeDeployment, { ...deploymentWrite({ sequence, bundleUrl }), valuesFile });
}

async function makeHangingFiles(): Promise<string[]> {
  const paths = Array.from({ length: HANGING }, (_, index) => join(folder, `hanging-${index}.yaml`));
  for (const path of paths) await makeHangingFile(path);
  return paths;
}

describe('values files whose file system hangs', () => {
  it('say so, delay no other file, and are written once they respond', async () => {
    const paths = await makeHangingFiles();
    const [first = ''] = paths;
    const failures = paths.map((path) => failureOf(write(path)));
    let ended = 0;
    for (const failure of failures) void failure.then(() => ended++);
    const other = join(folder, 'other.yaml');
    await expect(write(other)).resolves.toMatchObject({ outcome: 'written' });
    await expect(write(first)).rejects.toThrow('an earlier write has not ended');
    // The threads of this process are free.
    expect(await readFile(other, 'utf8')).toContain('job?n=1');
    expect(ended).toBe(0);
    for (const [index, failure] of (await Promise.all(failures)).entries()) {
      expect(failure).toMatchObject({
        type: 'FileSystemHangs',
        nonRetryable: true,
        message: `the file system of ${paths[index]} does not respond`,
      });
    }
    await rm(first);
    await expect(write(first, 2)).resolves.toMatchObject({ outcome: 'written' });
  });

  it('are missing among the pins of the others', async () => {
    const paths = await makeHangingFiles();
    const pinned = join(folder, 'pinned.yaml');
    await writeFile(pinned, 'staticExport: {version: v1}\n');
    const missing = join(folder, 'missing.yaml');
    const broken = join(folder, 'broken.yaml');
    await writeFile(broken, 'staticExport: [\n');
    const read = await activityEnvironment().run(readSwitches, [...paths, broken, pinned, missing]);
    expect(read).toEqual([
      { valuesFile: pinned, pin: 'v1', off: false },
      { valuesFile: missing, pin: null, off: false },
    ]);
  });
});

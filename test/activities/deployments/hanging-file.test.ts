import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { createDeploymentActivities } from '../../../activities/deployments/activities.ts';
import { createValuesFileTarget } from '../../../activities/deployments/values-file.ts';
import { makeHangingFile } from '../../helpers/hanging-file.ts';
import { emptiedFolder } from '../../helpers/temporary-folder.ts';
import { activityEnvironment } from '../activity-environment.ts';
import { deploymentWrite } from './deployment-write.ts';

const folder = emptiedFolder();

const { writeDeployment } = createDeploymentActivities({
  logger: pino({ level: 'silent' }),
  readSite: () => undefined,
});

function write(valuesFile: string, sequence: number) {
  const bundleUrl = `https://objects.test/job?n=${sequence}`;
  return activityEnvironment().run(writeDeployment, { ...deploymentWrite({ sequence, bundleUrl }), valuesFile });
}

describe('a values file whose file system hangs', () => {
  it('gets only one write at a time, and blocks no other file', async () => {
    const valuesFile = join(folder, 'hanging.yaml');
    const hanging = await makeHangingFile(valuesFile);
    const first = write(valuesFile, 1);
    // More attempts than Node has file threads.
    for (let sequence = 2; sequence < 10; sequence++) {
      await expect(write(valuesFile, sequence)).rejects.toThrow('an earlier write has not ended');
    }
    const other = join(folder, 'other.yaml');
    await expect(write(other, 1)).resolves.toMatchObject({ outcome: 'written' });
    await hanging.letGo();
    await expect(first).resolves.toMatchObject({ outcome: 'written' });
    await expect(write(valuesFile, 10)).resolves.toMatchObject({ outcome: 'written' });
    expect(await readFile(valuesFile, 'utf8')).toContain('job?n=10');
  });

  it('gets only one read for concurrent readers', async () => {
    const valuesFile = join(folder, 'hanging.yaml');
    const hanging = await makeHangingFile(valuesFile);
    const questions = Array.from({ length: 9 }, () => createValuesFileTarget(valuesFile).readSwitches());
    const other = join(folder, 'other.yaml');
    await expect(write(other, 1)).resolves.toMatchObject({ outcome: 'written' });
    const written = write(valuesFile, 1);
    await hanging.letGo();
    await expect(Promise.all(questions)).resolves.toEqual(Array(9).fill({ pin: null, off: false }));
    await written;
  });
});

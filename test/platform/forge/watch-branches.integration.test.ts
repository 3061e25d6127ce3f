import { rename } from 'node:fs/promises';
import pino from 'pino';
import { createBranchWatch } from '../../../platform/forge/watch-branches.ts';
import { BRANCH, type ForgeStage, startForgeStage } from './forge-stage.ts';

describe('the watch over branches', () => {
  let stage: ForgeStage;
  const lines: string[] = [];

  beforeAll(async () => {
    stage = await startForgeStage(pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }));
  }, 60_000);
  afterAll(() => stage?.stop());

  it('asks no further repository once it is stopped', async () => {
    const repository = await stage.createProject();
    await repository.commit(BRANCH, { 'new.md': 'New\n' });
    await stage.open(repository);
    // So that each time it is asked leaves a line in the log.
    await rename(repository.dir, `${repository.dir}.gone`);
    const asked = () => lines.filter((line) => line.includes('could not be compared')).length;
    const watch = createBranchWatch(stage.forgeContext());
    await watch.look();
    expect(asked()).toBe(1);
    await watch.stop();
    await watch.look();
    expect(asked()).toBe(1);
  });
});

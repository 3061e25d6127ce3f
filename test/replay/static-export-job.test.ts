import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { workflowBundles } from '../helpers/workflow-bundles.ts';

const folder = join(process.cwd(), 'test/replay/static-export-job');
const histories = readdirSync(folder).filter((name) => name.endsWith('.json'));

describe('recorded histories of staticExportJob', () => {
  it('are there for each branch', () => {
    const branches = new Set(histories.map((name) => name.replace(/-[\d.]+\.json$/, '')));
    const expected = [
      ...['cancelled-while-crawling', 'completed', 'crawling-on-after-samples', 'failed', 'shared-by-several-crawlers'],
    ];
    expect([...branches].sort()).toEqual(expected);
  });

  it.each(histories)('%s replays', async (name) => {
    const history = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    await Worker.runReplayHistory({ workflowBundle: workflowBundles.platform }, history);
  });
});

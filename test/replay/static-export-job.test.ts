import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { replayFiles } from '../helpers/replay.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';

const folder = join(process.cwd(), 'test/replay/static-export-job');
const histories = readdirSync(folder).filter((name) => name.endsWith('.json'));

describe('recorded histories of staticExportJob', () => {
  let errors: Map<string, string>;

  beforeAll(async () => {
    errors = await replayFiles(workflowBundles.platform, { path: folder, names: histories });
  });

  it('are there for each branch', () => {
    const branches = new Set(histories.map((name) => name.replace(/-[\d.]+\.json$/, '')));
    const expected = [
      ...['begun-anew', 'cancelled-while-crawling', 'completed', 'crawling-on-after-samples', 'failed'],
      'shared-by-several-crawlers',
    ];
    expect([...branches].sort()).toEqual(expected);
  });

  it.each(histories)('%s replays', (name) => {
    expect(errors.get(name)).toBe('none');
  });
});

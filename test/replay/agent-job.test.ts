import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { replayFiles } from '../helpers/replay.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';

const folder = join(process.cwd(), 'test/replay/agent-job');
const histories = readdirSync(folder).filter((name) => name.endsWith('.json'));

describe('recorded histories of agentJob', () => {
  let errors: Map<string, string>;

  beforeAll(async () => {
    errors = await replayFiles(workflowBundles.platform, { path: folder, names: histories });
  });

  it('are there for each branch', () => {
    const branches = new Set(histories.map((name) => name.replace(/-[\d.]+\.json$/, '')));
    expect([...branches].sort()).toEqual([
      'cancel-accepted-without-the-workflow',
      'cancelled-while-the-agent-works',
      'completed-with-a-pull-request',
      'failed-at-the-push',
      'failed-before-the-agent',
      'failed-in-the-agent',
      'follow-up',
      'follow-up-that-changes-nothing',
      'over-before-it-began',
      'unchanged',
    ]);
  });

  it.each(histories)('%s replays', (name) => {
    expect(errors.get(name)).toBe('none');
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { replayErrors, replayFiles } from '../helpers/replay.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';

const workflowBundle = workflowBundles.orchestrator;

// A replay is a worker of its own, and tells so.
Runtime.install({ logger: new DefaultLogger('ERROR') });

/** Every branch that record-agents.ts plays, and an activity or workflow that its histories have. */
const WORKFLOWS = [
  {
    folder: 'agent-change',
    workflowId: 'agent:docs:changelog:replayed',
    branches: [
      'cancelled-by-temporal',
      'cancelled-in-review',
      'cancelled-while-prompting',
      'cancelled-while-working',
      'closed',
      'continued-as-new-in-review',
      'continued-as-new-in-review-run-before-1',
      'expired-while-prompting',
      'job-failed',
      'key-refused-and-mended',
      'merge-commit-asked-of-the-forge',
      'merged-as-the-forge-tells',
      'one-mail-refused-and-the-forge-refusing',
      'prompt-rejected-and-nobody-to-tell',
      'reminded-and-expired',
      'reviewed-and-merged',
      'rule-taken-out-before-it-began',
      'rule-taken-out-in-review',
      'unchanged',
      'without-mail-and-forge',
    ],
    changed: ['closed', 'createAgentJob'],
  },
  {
    folder: 'agent-rule',
    workflowId: 'agent-rule:docs:changelog',
    branches: [
      'burst-and-resend',
      'continued-as-new-while-collecting',
      'continued-as-new-while-collecting-run-before-1',
      'first-of-several-started-before',
      'limited',
      'own-merge-dropped-from-what-waits',
      'same-id-after-its-window',
      'started-before',
      'taken-out-of-the-configuration',
    ],
    changed: ['limited', 'readRuleSettings'],
  },
] as const;

describe.each(WORKFLOWS)('recorded histories of $folder', ({ folder, workflowId, branches, changed }) => {
  const path = join(process.cwd(), 'test/replay', folder);
  const histories = readdirSync(path).filter((name) => name.endsWith('.json'));
  const read = (name: string): string => readFileSync(join(path, name), 'utf8');

  let errors: Map<string, string>;

  beforeAll(async () => {
    errors = await replayFiles(workflowBundle, { path, names: histories, workflowId });
  });

  it('are there for each branch', () => {
    const recorded = new Set(histories.map((name) => name.replace(/-[\d.]+\.json$/, '')));
    expect([...recorded].sort()).toEqual(branches);
  });

  it.each(histories)('%s replays', (name) => {
    expect(errors.get(name)).toBe('none');
  });

  it('that were changed do not replay, so that the others prove something', async () => {
    const [branch, activity] = changed;
    const name = histories.find((candidate) => candidate.startsWith(branch)) ?? '';
    const history = JSON.parse(read(name).replaceAll(`"${activity}"`, '"anotherActivity"'));
    const [error] = await replayErrors(workflowBundle, [{ workflowId, history }]);
    expect(error?.message).toMatch(/[Nn]ondeterminism/);
  });
});

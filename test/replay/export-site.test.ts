import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { replayErrors, replayFiles } from '../helpers/replay.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';

const folder = join(process.cwd(), 'test/replay/export-site');
const histories = readdirSync(folder).filter((name) => name.endsWith('.json'));

// A replay is a worker of its own, and tells so.
Runtime.install({ logger: new DefaultLogger('ERROR') });

/** Every branch that record-export-site.ts plays. */
const BRANCHES = [
  'bundle-gone',
  'continued-as-new-while-exporting',
  'continued-as-new-while-exporting-run-before-1',
  'failed-and-published-again',
  'given-up-after-its-timeout',
  'held-by-a-pin-and-let-go',
  'key-refused-and-mended',
  'operators-told-of-trouble-and-its-end',
  'paused-and-resumed',
  'pinned-while-live',
  'published-and-refreshed',
  'published-while-exporting',
  'replaced-by-a-newer-publish',
  'rolled-back-while-exporting',
  'taken-out-of-the-configuration',
];

const workflowId = 'export:replayed';

describe('recorded histories of exportSite', () => {
  let errors: Map<string, string>;

  beforeAll(async () => {
    errors = await replayFiles(workflowBundles.orchestrator, { path: folder, names: histories, workflowId });
  });

  it('are there for each branch', () => {
    const branches = new Set(histories.map((name) => name.replace(/-[\d.]+\.json$/, '')));
    expect([...branches].sort()).toEqual(BRANCHES);
  });

  it.each(histories)('%s replays', (name) => {
    expect(errors.get(name)).toBe('none');
  });

  it('replays a run in trouble that an earlier release had been told the operators of, and told nobody', async () => {
    const history = JSON.parse(readFileSync(join(folder, 'failed-and-published-again-0.1.json'), 'utf8'));
    const payloads = history.events.flatMap(
      (event: { activityTaskCompletedEventAttributes?: { result?: { payloads?: { data: string }[] } } }) =>
        event.activityTaskCompletedEventAttributes?.result?.payloads ?? [],
    );
    let told = 0;
    for (const payload of payloads) {
      const settings = JSON.parse(Buffer.from(payload.data, 'base64').toString('utf8'));
      if (settings?.quietPeriodMs === undefined) continue;
      told += 1;
      const withOperators = { ...settings, operators: ['ops@example.com'], tellAfterMs: 0 };
      payload.data = Buffer.from(JSON.stringify(withOperators)).toString('base64');
    }
    expect(told).toBeGreaterThan(0);
    expect(await replayErrors(workflowBundles.orchestrator, [{ workflowId, history }])).toEqual([undefined]);
  });

  it('that were changed do not replay, so that the others prove something', async () => {
    const text = readFileSync(join(folder, histories[0] ?? ''), 'utf8');
    const history = JSON.parse(text.replaceAll('"startExport"', '"anotherActivity"'));
    const [error] = await replayErrors(workflowBundles.orchestrator, [{ workflowId, history }]);
    expect(error?.message).toMatch(/[Nn]ondeterminism/);
  });
});

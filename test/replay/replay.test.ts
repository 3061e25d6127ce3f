import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { replayErrors } from '../helpers/replay.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';

// A replay is a worker of its own, which logs that it starts and ends.
Runtime.install({ logger: new DefaultLogger('ERROR') });

const { orchestrator, platform, traced } = workflowBundles;

const words = (text: string): string[] => text.split(/\s+/);

/** For each workflow: its recorded branches, and one of them with one of its activities. record-runs.ts adds others. */
const WORKFLOWS = [
  {
    folder: 'export-site',
    bundle: orchestrator,
    workflowId: 'export:replayed',
    branches: words(`bundle-gone continued-as-new-for-another-build continued-as-new-for-another-build-run-before-1
      continued-as-new-while-exporting continued-as-new-while-exporting-run-before-1
      continued-as-new-while-paused continued-as-new-while-paused-run-before-1 failed-and-published-again
      given-up-after-its-timeout held-by-a-pin-and-let-go key-refused-and-mended
      notified-of-a-burst-and-a-rollback notified-of-a-failure-and-its-end old-job-refused
      operators-told-of-trouble-and-its-end paused-and-resumed pinned-while-live published-and-refreshed
      published-while-exporting removed-while-exporting replaced-by-a-newer-publish
      rolled-back-while-exporting sent-away-for-an-hour switched-off-and-on taken-out-of-the-configuration
      two-deployments unknown-from-the-start unknown-to-its-worker-and-known-again`),
    changed: ['bundle-gone', 'startExport'],
  },
  {
    folder: 'agent-change',
    bundle: orchestrator,
    workflowId: 'agent:docs:changelog:replayed',
    branches: words(`cancelled-by-temporal cancelled-in-review cancelled-while-prompting cancelled-while-working closed
      continued-as-new-in-review continued-as-new-in-review-run-before-1 expired-while-prompting job-failed
      key-refused-and-mended merge-commit-asked-of-the-forge merged-as-the-forge-tells
      one-mail-refused-and-the-forge-refusing prompt-rejected-and-nobody-to-tell reminded-and-expired
      reminded-until-a-verdict reviewed-and-merged rule-taken-out-before-it-began rule-taken-out-in-review
      unchanged without-mail-and-forge`),
    changed: ['closed', 'createAgentJob'],
  },
  {
    folder: 'agent-rule',
    bundle: orchestrator,
    workflowId: 'agent-rule:docs:changelog',
    branches: words(`burst-and-resend continued-as-new-while-collecting continued-as-new-while-collecting-run-before-1
      first-of-several-started-before limited operators-told-that-no-worker-knew-it
      own-merge-dropped-from-what-waits same-id-after-its-window started-before taken-out-of-the-configuration`),
    changed: ['limited', 'readRuleSettings'],
  },
  {
    folder: 'notification',
    bundle: orchestrator,
    workflowId: 'notify:docs:served-1:00000000',
    branches: words('delivered target-removed'),
    changed: ['delivered', 'sendNotification'],
  },
  {
    folder: 'watchdog',
    bundle: orchestrator,
    workflowId: 'galley-watchdog-replayed',
    branches: words('checked reported'),
    changed: ['reported', 'checkSites'],
  },
  {
    folder: 'watchdog-report',
    bundle: orchestrator,
    workflowId: 'galley-watchdog-replayed:report',
    branches: words('mailed'),
    changed: ['mailed', 'sendWatchdogMail'],
  },
  {
    folder: 'agent-job',
    bundle: platform,
    workflowId: 'replayed',
    branches: words(`cancel-accepted-without-the-workflow cancelled-while-the-agent-works completed-with-a-pull-request
      failed-at-the-push failed-before-the-agent failed-in-the-agent follow-up follow-up-that-changes-nothing
      over-before-it-began unchanged`),
    changed: ['unchanged', 'runAgent'],
  },
  {
    folder: 'static-export-job',
    bundle: platform,
    workflowId: 'replayed',
    branches: words(`begun-anew cancelled-while-crawling completed crawling-on-after-samples failed
      shared-by-several-crawlers`),
    changed: ['completed-0.1.1', 'beginExport'],
  },
];

describe.each(WORKFLOWS)('the recorded histories of $folder', ({ folder, bundle, workflowId, branches, changed }) => {
  const path = join(process.cwd(), 'test/replay', folder);
  const names = readdirSync(path).filter((name) => name.endsWith('.json'));
  const read = (name: string): string => readFileSync(join(path, name), 'utf8');

  it('show every branch', () => {
    const recorded = new Set(names.map((name) => name.replace(/-[\d.]+\.json$/, '')));
    expect([...recorded]).toEqual(expect.arrayContaining(branches));
  });

  // One of them is changed, so that the others prove something.
  it('replay, but not after an activity in one of them was changed', async () => {
    const [branch = '', activity] = changed;
    const first = read(names.find((name) => name.startsWith(branch)) ?? '');
    const texts = [...names.map(read), first.replaceAll(`"${activity}"`, '"anotherActivity"')];
    const runs = texts.map((text) => ({ workflowId, history: JSON.parse(text) }));
    const errors = await replayErrors(bundle, runs);
    const failed = names.map((name, index) => [name, errors[index]?.message]).filter(([, message]) => message);
    expect(failed).toEqual([]);
    expect(errors.at(-1)?.message).toMatch(/[Nn]ondeterminism/);
  });
});

describe('the recorded histories, which have no traces', () => {
  it.each(['export-site', 'agent-change', 'agent-rule'])('of %s replay on a worker with traces', async (folder) => {
    const path = join(process.cwd(), 'test/replay', folder);
    // A quarter of them: interceptors see calls, not what a run was about.
    const files = readdirSync(path).filter((name, index) => name.endsWith('.json') && index % 4 === 0);
    const workflowId = WORKFLOWS.find((each) => each.folder === folder)?.workflowId ?? '';
    const runs = files.map((name) => ({ workflowId, history: JSON.parse(readFileSync(join(path, name), 'utf8')) }));
    expect(await replayErrors(traced, runs)).toEqual(runs.map(() => undefined));
  });
});

describe('a run of exportSite that failed in a release without mails to operators', () => {
  it('replays also if the operators were configured then', async () => {
    const text = readFileSync(
      join(process.cwd(), 'test/replay/export-site/failed-and-published-again-0.1.json'),
      'utf8',
    );
    const history = JSON.parse(text);
    const payloads = history.events.flatMap(
      (event: { activityTaskCompletedEventAttributes?: { result?: { payloads?: { data: string }[] } } }) =>
        event.activityTaskCompletedEventAttributes?.result?.payloads ?? [],
    );
    let changed = 0;
    for (const payload of payloads) {
      const settings = JSON.parse(Buffer.from(payload.data, 'base64').toString('utf8'));
      if (settings?.quietPeriodMs === undefined) continue;
      changed += 1;
      const withOperators = { ...settings, operators: ['ops@example.com'], tellAfterMs: 0 };
      payload.data = Buffer.from(JSON.stringify(withOperators)).toString('base64');
    }
    expect(changed).toBeGreaterThan(0);
    expect(await replayErrors(orchestrator, [{ workflowId: 'export:replayed', history }])).toEqual([undefined]);
  });
});

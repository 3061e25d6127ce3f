import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { replayErrors, stepsOf } from '../helpers/replay.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';
import { REPLAYED_ID } from './record-runs.ts';

// A replay is a worker of its own, which logs that it starts and ends.
Runtime.install({ logger: new DefaultLogger('ERROR') });

const { orchestrator, platform, traced } = workflowBundles;

const words = (text: string): string[] => text.split(/\s+/);

/** For each workflow: what its recorded histories have to show (record-runs.ts), and an activity to change in one, if it has any. */
const WORKFLOWS = [
  {
    folder: 'export-site',
    bundle: orchestrator,
    shows: {
      ACTIVITY_TASK_SCHEDULED:
        words(`askDeployment cancelExport createBundle createExportKey findExport judgeExport messageGate
        pollExport readExport readSiteSettings readSwitches sendSiteMail startExport startNotifications waitForPinChange
        writeDeployment`),
      ACTIVITY_TASK_FAILED: words(`createBundle pollExport readExport readSiteSettings startExport writeDeployment`),
      ACTIVITY_TASK_TIMED_OUT: words('writeDeployment'),
      ACTIVITY_TASK_CANCELED: words('askDeployment writeDeployment'),
      CHILD_WORKFLOW_EXECUTION_STARTED: [''],
      START_CHILD_WORKFLOW_EXECUTION_FAILED: [''],
      WORKFLOW_EXECUTION_SIGNALED: words('acted configChanged published startGranted'),
      WORKFLOW_EXECUTION_UPDATE_ACCEPTED: words(`approve exportNow lock pause refreshNow reject remove rename resume
        rollback unlock`),
    },
    ends: words('COMPLETED CONTINUED_AS_NEW'),
    changed: 'startExport',
  },
  {
    folder: 'renamed-site',
    bundle: orchestrator,
    // It waits for 30 days.
    shows: { WORKFLOW_TASK_COMPLETED: [''] },
    ends: [],
    changed: null,
  },
  {
    folder: 'start-gate',
    bundle: orchestrator,
    shows: {
      EXTERNAL_WORKFLOW_EXECUTION_SIGNALED: [''],
      TIMER_FIRED: [''],
      WORKFLOW_EXECUTION_SIGNALED: words('ended requested'),
    },
    // It never ends.
    ends: [],
    changed: null,
  },
  {
    folder: 'agent-change',
    bundle: orchestrator,
    shows: {
      ACTIVITY_TASK_SCHEDULED: words(`cancelAgentJob createAgentJob followPullRequest messageAgentJob planReview
        pollAgentJob readLastWords readPullRequest readRuleSettings renderAgentPrompt renderFollowUp requestReview
        sendOperatorMail sendReviewMail startNotifications`),
      ACTIVITY_TASK_FAILED:
        words(`createAgentJob followPullRequest messageAgentJob planReview pollAgentJob readLastWords
        readRuleSettings sendReviewMail`),
      ACTIVITY_TASK_CANCELED: words('createAgentJob pollAgentJob'),
      WORKFLOW_EXECUTION_SIGNALED: words('configChanged pullRequestChanged reviewed'),
      WORKFLOW_EXECUTION_UPDATE_ACCEPTED: words('cancel'),
      EXTERNAL_WORKFLOW_EXECUTION_SIGNALED: [''],
      SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED: [''],
    },
    ends: words('CANCELED COMPLETED CONTINUED_AS_NEW FAILED'),
    changed: 'createAgentJob',
  },
  {
    folder: 'agent-rule',
    bundle: orchestrator,
    shows: {
      ACTIVITY_TASK_SCHEDULED: words('readRuleSettings sendRuleMail'),
      ACTIVITY_TASK_FAILED: words('readRuleSettings'),
      CHILD_WORKFLOW_EXECUTION_STARTED: [''],
      START_CHILD_WORKFLOW_EXECUTION_FAILED: [''],
      WORKFLOW_EXECUTION_SIGNALED: words('changeEnded configChanged ownMerge published unsubscribed'),
      WORKFLOW_EXECUTION_UPDATE_ACCEPTED: words('remove runAgain'),
    },
    ends: words('COMPLETED CONTINUED_AS_NEW'),
    changed: 'readRuleSettings',
  },
  {
    folder: 'notification',
    bundle: orchestrator,
    shows: { ACTIVITY_TASK_SCHEDULED: words('sendNotification') },
    ends: words('COMPLETED FAILED'),
    changed: 'sendNotification',
  },
  {
    folder: 'watchdog',
    bundle: orchestrator,
    shows: {
      ACTIVITY_TASK_SCHEDULED: words('checkSites sendHeartbeat'),
      CHILD_WORKFLOW_EXECUTION_STARTED: [''],
    },
    ends: words('COMPLETED'),
    changed: 'checkSites',
  },
  {
    folder: 'watchdog-report',
    bundle: orchestrator,
    shows: { ACTIVITY_TASK_SCHEDULED: words('sendWatchdogMail') },
    ends: words('COMPLETED'),
    changed: 'sendWatchdogMail',
  },
  {
    folder: 'agent-job',
    bundle: platform,
    shows: {
      ACTIVITY_TASK_SCHEDULED: words('endAgentRun openAgentRun openPullRequest pushChange runAgent'),
      ACTIVITY_TASK_FAILED: words('openAgentRun runAgent'),
      ACTIVITY_TASK_CANCELED: words('runAgent'),
    },
    ends: words('CANCELED COMPLETED FAILED'),
    changed: 'runAgent',
  },
  {
    folder: 'collect-garbage',
    bundle: platform,
    shows: { ACTIVITY_TASK_SCHEDULED: words('collectGarbage') },
    ends: words('COMPLETED'),
    changed: 'collectGarbage',
  },
  {
    folder: 'static-export-job',
    bundle: platform,
    shows: {
      ACTIVITY_TASK_SCHEDULED: words(`beginAnew beginExport cleanUpExport crawlSite failExport freezeExport packExport
        rewriteFiles visitSamples`),
      ACTIVITY_TASK_FAILED: words('beginExport freezeExport packExport rewriteFiles'),
      ACTIVITY_TASK_CANCELED: words('beginExport'),
    },
    ends: words('CANCELED COMPLETED FAILED'),
    changed: 'beginExport',
  },
];

describe.each(WORKFLOWS)('the recorded histories of $folder', (workflow) => {
  const { folder, bundle, shows, ends, changed } = workflow;
  const path = join(process.cwd(), 'test/replay', folder);
  const names = readdirSync(path).filter((name) => name.endsWith('.json'));
  const texts = names.map((name) => readFileSync(join(path, name), 'utf8'));

  it('show every branch', () => {
    const recorded = new Set(texts.flatMap((text) => stepsOf(JSON.parse(text)).steps));
    const steps = Object.entries(shows).flatMap(([type, all]) =>
      all.map((name) => `EVENT_TYPE_${type} ${name}`.trim()),
    );
    const needed = [...steps, ...ends.map((end) => `EVENT_TYPE_WORKFLOW_EXECUTION_${end}`)];
    expect(needed.filter((step) => !recorded.has(step))).toEqual([]);
  });

  // One of them is changed, so that the others prove something.
  it('replay, but not after an activity in one of them was changed', async () => {
    const first = texts.find((text) => text.includes(`"${changed}"`)) ?? '';
    const activity = `"activityType":{"name":"${changed}"`;
    const other = first.replaceAll(activity, '"activityType":{"name":"anotherActivity"');
    const all = changed === null ? texts : [...texts, other];
    const runs = all.map((text) => ({ workflowId: REPLAYED_ID, history: JSON.parse(text) }));
    const errors = await replayErrors(bundle, runs);
    const failed = names.map((name, index) => [name, errors[index]?.message]).filter(([, message]) => message);
    expect(failed).toEqual([]);
    if (changed !== null) expect(errors.at(-1)?.message).toMatch(/[Nn]ondeterminism/);
  });
});

describe('the recorded histories, which have no traces', () => {
  it.each(['export-site', 'agent-change', 'agent-rule'])('of %s replay on a worker with traces', async (folder) => {
    const path = join(process.cwd(), 'test/replay', folder);
    // A quarter of them: interceptors see calls, not what a run was about.
    const files = readdirSync(path).filter((name, index) => name.endsWith('.json') && index % 4 === 0);
    const runs = files.map((name) => ({
      workflowId: REPLAYED_ID,
      history: JSON.parse(readFileSync(join(path, name), 'utf8')),
    }));
    expect(await replayErrors(traced, runs)).toEqual(runs.map(() => undefined));
  });
});

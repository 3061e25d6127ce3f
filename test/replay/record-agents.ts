// Records a history of each branch of agentRule and agentChange under test/replay/agent-rule/ and agent-change/, for
// this release:
//   node --import ./scripts/typescript.js test/replay/record-agents.ts 0.1 [BRANCH] [FOLDER]
// It takes the workflow bundle that the last `npm test` made.
import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import type { RuleSettings } from '../../activities/agents/read-rule-settings.ts';
import { startDevServer } from '../helpers/temporal.ts';
import { type AgentBench, PR_LINK, startAgentBench } from '../workflows/agent-bench.ts';
import { record, unrecorded } from './recorder.ts';

type Branch = {
  name: string;
  settings?: Partial<RuleSettings>;
  /** Of which workflow the history is kept; a change is the one named `it`. */
  of: 'agent-rule' | 'agent-change';
  play: (rig: AgentBench) => Promise<void>;
};

const at = '2026-11-21T08:00:00Z';
const merged = { deliveryId: 'm', url: PR_LINK, state: 'merged', mergeCommitSha: 'c0ffee', at };
const reviewed = { deliveryId: 'r', url: PR_LINK, reviewer: 'bob', verdict: 'approved', at };
const sent = { outcome: 'sent', detail: '250 queued' } as const;

function refusal(type: string, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true });
}

async function inReview(rig: AgentBench): Promise<void> {
  await rig.change('it').until('in review', ({ phase }) => phase === 'in-review');
}

async function working(rig: AgentBench): Promise<void> {
  await rig.change('it').until('working', ({ phase }) => phase === 'working');
}

async function idle(rig: AgentBench): Promise<void> {
  do await sleep(300);
  while ((await rig.ruleState()).phase !== 'idle');
}

async function inNewRun(handle: AgentBench['rule'] | ReturnType<AgentBench['change']>, act: () => Promise<unknown>) {
  const { runId } = await handle.describe();
  while ((await handle.describe()).runId === runId) await act();
}

function build(rig: AgentBench, name: string): void {
  if (rig.outside.settings) rig.outside.settings = { ...rig.outside.settings, build: name };
}

const branches: Branch[] = [
  {
    name: 'reviewed-and-merged',
    of: 'agent-change',
    settings: { searchAttributes: true, remindAfterMs: [86_400_000] },
    async play(rig) {
      rig.outside.owners = { mails: ['owner@example.com'], logins: ['ada'], teams: ['docs'] };
      await rig.publish({ id: 'it' });
      await inReview(rig);
      await rig.change('it').signal('reviewed', reviewed);
      await rig.change('it').signal('pullRequestChanged', merged);
      await rig.change('it').result();
    },
  },
  {
    name: 'merged-as-the-forge-tells',
    of: 'agent-change',
    async play(rig) {
      rig.outside.pullRequest = { ...rig.outside.pullRequest, state: 'merged', mergeCommitSha: null };
      await rig.startChange('it');
      await rig.change('it').result();
    },
  },
  {
    name: 'closed',
    of: 'agent-change',
    async play(rig) {
      await rig.startChange('it');
      await inReview(rig);
      await rig.change('it').signal('pullRequestChanged', { ...merged, state: 'closed', mergeCommitSha: null });
      await rig.change('it').result();
    },
  },
  {
    name: 'reminded-and-expired',
    of: 'agent-change',
    settings: { remindAfterMs: [1_000, 2_000], expireAfterMs: 4_000 },
    async play(rig) {
      await rig.startChange('it');
      await rig.change('it').result();
    },
  },
  {
    name: 'without-mail-and-forge',
    of: 'agent-change',
    settings: { mail: false, forge: false },
    async play(rig) {
      await rig.startChange('it');
      await inReview(rig);
      await rig.change('it').signal('pullRequestChanged', merged);
      await rig.change('it').result();
    },
  },
  {
    name: 'one-mail-refused-and-the-forge-refusing',
    of: 'agent-change',
    settings: { reviewers: ['gone@example.com', 'ada@example.com'] },
    async play(rig) {
      rig.outside.onMail = ({ to }) => {
        if (to === 'gone@example.com') throw refusal('NoMailServer', 'refused');
        return sent;
      };
      rig.outside.onForge = () => {
        throw refusal('ForgeRefused', '403');
      };
      await rig.startChange('it');
      await inReview(rig);
    },
  },
  {
    name: 'unchanged',
    of: 'agent-change',
    async play(rig) {
      rig.outside.end = { status: 'completed', prLink: null, error: null };
      await rig.startChange('it');
      await rig.change('it').result();
    },
  },
  {
    name: 'job-failed',
    of: 'agent-change',
    settings: { operators: ['ops@example.com', 'oncall@example.com'] },
    async play(rig) {
      rig.outside.end = { status: 'failed', prLink: null, error: 'exit code 1' };
      await rig.startChange('it');
      await rig
        .change('it')
        .result()
        .catch(() => {});
    },
  },
  {
    name: 'prompt-rejected-and-nobody-to-tell',
    of: 'agent-change',
    settings: { operators: [] },
    async play(rig) {
      rig.outside.onCreate = () => {
        throw refusal('Rejected', '400');
      };
      await rig.startChange('it');
      await rig
        .change('it')
        .result()
        .catch(() => {});
    },
  },
  {
    name: 'key-refused-and-mended',
    of: 'agent-change',
    async play(rig) {
      let refuse = true;
      rig.outside.onCreate = () => {
        if (refuse) throw refusal('KeyRefused', '401');
      };
      await rig.startChange('it');
      await rig.change('it').until('refused', ({ error }) => error !== null);
      refuse = false;
      await rig.change('it').signal('configChanged');
      await inReview(rig);
    },
  },
  {
    name: 'cancelled-while-working',
    of: 'agent-change',
    async play(rig) {
      rig.outside.end = null;
      await rig.startChange('it');
      await working(rig);
      await rig.change('it').executeUpdate('cancel');
      await rig.change('it').result();
    },
  },
  {
    name: 'cancelled-in-review',
    of: 'agent-change',
    async play(rig) {
      await rig.startChange('it');
      await inReview(rig);
      await rig.change('it').executeUpdate('cancel');
      await rig.change('it').result();
    },
  },
  {
    name: 'cancelled-by-temporal',
    of: 'agent-change',
    async play(rig) {
      rig.outside.end = null;
      await rig.startChange('it');
      await working(rig);
      await rig.change('it').cancel();
      await rig
        .change('it')
        .result()
        .catch(() => {});
    },
  },
  {
    name: 'rule-taken-out-before-it-began',
    of: 'agent-change',
    async play(rig) {
      rig.outside.settings = null;
      await rig.startChange('it');
      await rig.change('it').result();
    },
  },
  {
    name: 'continued-as-new-in-review',
    of: 'agent-change',
    settings: { remindAfterMs: [86_400_000] },
    async play(rig) {
      await rig.startChange('it');
      await inReview(rig);
      build(rig, 'two');
      await rig.change('it').signal('reviewed', reviewed);
      await rig.change('it').signal('configChanged');
      await inNewRun(rig.change('it'), () => sleep(100));
      await rig.change('it').signal('pullRequestChanged', merged);
      await rig.change('it').result();
    },
  },
  {
    name: 'expired-while-prompting',
    of: 'agent-change',
    settings: { expireAfterMs: 2_000 },
    async play(rig) {
      rig.outside.onCreate = () => {
        throw refusal('KeyRefused', '401');
      };
      await rig.startChange('it');
      await rig.change('it').result();
    },
  },
  {
    name: 'cancelled-while-prompting',
    of: 'agent-change',
    async play(rig) {
      rig.outside.onCreate = () => {
        throw ApplicationFailure.create({ type: 'Unavailable', message: 'reset', nextRetryDelay: 30_000 });
      };
      await rig.startChange('it');
      await rig.change('it').until('tried', () => rig.creates > 0);
      await rig.change('it').executeUpdate('cancel');
      await rig.change('it').result();
    },
  },
  {
    name: 'rule-taken-out-in-review',
    of: 'agent-change',
    settings: { remindAfterMs: [86_400_000] },
    async play(rig) {
      await rig.startChange('it');
      await inReview(rig);
      rig.outside.settings = null;
      await rig.change('it').signal('configChanged');
      await rig.change('it').until('taken out', ({ notes }) => notes.length > 0);
      await rig.change('it').signal('pullRequestChanged', merged);
      await rig.change('it').result();
    },
  },
  {
    name: 'merge-commit-asked-of-the-forge',
    of: 'agent-change',
    async play(rig) {
      await rig.publish({ id: 'it' });
      await inReview(rig);
      rig.outside.pullRequest = { ...rig.outside.pullRequest, mergeCommitSha: 'c0ffee' };
      await rig.change('it').signal('pullRequestChanged', { ...merged, mergeCommitSha: null });
      await rig.change('it').result();
    },
  },
  {
    name: 'burst-and-resend',
    of: 'agent-rule',
    settings: { searchAttributes: true, quietPeriodMs: 500 },
    async play(rig) {
      for (const id of ['it', 'b', 'c', 'b']) await rig.publish({ id });
      await rig.rule.signal('unsubscribed', { address: 'bob@example.com' });
      await idle(rig);
      await rig.publish({ id: 'd', agentsOwn: true });
      await rig.rule.signal('ownMerge', { sha: 'entry-6' });
      await rig.publish({ eventId: 'entry-6' });
      await rig.publish({ id: 'e' });
      await idle(rig);
    },
  },
  {
    name: 'limited',
    of: 'agent-rule',
    settings: { maxPerHour: 1 },
    async play(rig) {
      await rig.publish({ id: 'it' });
      await idle(rig);
      await rig.publish({ id: 'b' });
      await sleep(1_500);
      if (rig.outside.settings) rig.outside.settings = { ...rig.outside.settings, maxPerHour: 6 };
      await rig.rule.signal('configChanged');
      await idle(rig);
    },
  },
  {
    name: 'started-before',
    of: 'agent-rule',
    async play(rig) {
      await rig.startChange('it');
      await rig.publish({ id: 'it', dedupeMs: 60_000 });
      await idle(rig);
      await rig.startChange('other');
      await rig.publish({ id: 'other' });
      await idle(rig);
    },
  },
  {
    name: 'first-of-several-started-before',
    of: 'agent-rule',
    async play(rig) {
      await rig.startChange('it');
      await rig.publishAll([{ id: 'it' }, { id: 'new' }, { id: 'newer' }]);
      await idle(rig);
    },
  },
  {
    name: 'same-id-after-its-window',
    of: 'agent-rule',
    async play(rig) {
      for (let time = 0; time < 2; time++) {
        await rig.publish({ id: 'it', dedupeMs: 1 });
        await idle(rig);
      }
    },
  },
  {
    name: 'own-merge-dropped-from-what-waits',
    of: 'agent-rule',
    settings: { quietPeriodMs: 1_500 },
    async play(rig) {
      await rig.publish({ id: 'it', eventId: 'c0ffee' });
      await rig.publish({ id: 'b' });
      await rig.rule.signal('ownMerge', { sha: 'c0ffee' });
      await idle(rig);
    },
  },
  {
    name: 'continued-as-new-while-collecting',
    of: 'agent-rule',
    settings: { quietPeriodMs: 1_000 },
    async play(rig) {
      await rig.publish({ id: 'it' });
      build(rig, 'two');
      await rig.rule.signal('configChanged');
      await inNewRun(rig.rule, () => rig.publish());
      await idle(rig);
    },
  },
  {
    name: 'taken-out-of-the-configuration',
    of: 'agent-rule',
    settings: { quietPeriodMs: 60_000 },
    async play(rig) {
      await rig.publish({ id: 'it' });
      await sleep(500);
      rig.outside.settings = null;
      await rig.rule.signal('configChanged');
      await rig.rule.result();
    },
  },
];

const server = await startDevServer();
for (const { name, settings = {}, of, play } of unrecorded(branches, (branch) => branch.of)) {
  const rig = await startAgentBench({ client: server.client, connection: server.nativeConnection, settings });
  await play(rig);
  await sleep(300);
  const { workflowId } = of === 'agent-rule' ? rig.rule : rig.change('it');
  await record(of, name, workflowId, server.address);
  await rig.close();
}
await server.stop();
process.exit(0);

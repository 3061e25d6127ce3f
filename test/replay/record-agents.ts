// Records a history of each branch of agentRule and agentChange under test/replay/agent-rule/ and agent-change/, for
// this release:
//   node --import ./scripts/typescript.js test/replay/record-agents.ts 0.1 [BRANCH] [FOLDER]
// It takes the workflow bundle that the last `npm test` made.
import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import type { RuleSettings } from '../../contract/settings.ts';
import { startDevServer } from '../helpers/temporal.ts';
import { type AgentFixture, PR_LINK, startAgentFixture } from '../workflows/agent-fixture.ts';
import { createAgentWorker } from '../workflows/agent-worker.ts';
import { asWorkflowServer } from '../workflows/use-temporal.ts';
import { record, unrecorded } from './recorder.ts';

/** Of which workflow the history is kept; a change is the one named `it`. */
type Kind = 'agent-rule' | 'agent-change';
type Play = (fixture: AgentFixture) => Promise<void>;

const branches: { of: Kind; name: string; settings: Partial<RuleSettings>; play: Play }[] = [];

function branch(of: Kind, name: string, settings: Partial<RuleSettings>, play: Play): void {
  branches.push({ of, name, settings, play });
}

const at = '2026-11-21T08:00:00Z';
const merged = { deliveryId: 'm', url: PR_LINK, state: 'merged', mergeCommitSha: 'c0ffee', at };
const reviewed = { deliveryId: 'r', url: PR_LINK, reviewer: 'bob', verdict: 'approved', at };
const sent = { outcome: 'sent', detail: '250 queued' } as const;

function refusal(type: string, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true });
}

async function inReview(fixture: AgentFixture): Promise<void> {
  await fixture.change('it').until('in review', ({ phase }) => phase === 'in-review');
}

async function working(fixture: AgentFixture): Promise<void> {
  await fixture.change('it').until('working', ({ phase }) => phase === 'working');
}

async function ended(fixture: AgentFixture): Promise<void> {
  const result = fixture.change('it').result();
  await result.catch(() => {});
}

async function idle(fixture: AgentFixture): Promise<void> {
  do await sleep(300);
  while ((await fixture.ruleState()).phase !== 'idle');
}

async function inNewRun(
  handle: AgentFixture['rule'] | ReturnType<AgentFixture['change']>,
  act: () => Promise<unknown>,
) {
  const { runId } = await handle.describe();
  while ((await handle.describe()).runId === runId) await act();
}

branch(
  'agent-change',
  'reviewed-and-merged',
  { searchAttributes: true, remindAfterMs: [86_400_000] },
  async (fixture) => {
    fixture.outside.owners = { mails: ['owner@example.com'], logins: ['ada'], teams: ['docs'] };
    await fixture.publish({ id: 'it' });
    await inReview(fixture);
    await fixture.change('it').signal('reviewed', reviewed);
    await fixture.change('it').signal('pullRequestChanged', merged);
    await ended(fixture);
  },
);

branch('agent-change', 'merged-as-the-forge-tells', {}, async (fixture) => {
  fixture.outside.pullRequest = { ...fixture.outside.pullRequest, state: 'merged', mergeCommitSha: null };
  await fixture.startChange('it');
  await ended(fixture);
});

branch('agent-change', 'closed', {}, async (fixture) => {
  await fixture.startChange('it');
  await inReview(fixture);
  await fixture.change('it').signal('pullRequestChanged', { ...merged, state: 'closed', mergeCommitSha: null });
  await ended(fixture);
});

branch(
  'agent-change',
  'reminded-and-expired',
  { remindAfterMs: [1_000, 2_000], expireAfterMs: 4_000 },
  async (fixture) => {
    await fixture.startChange('it');
    await ended(fixture);
  },
);

branch('agent-change', 'reminded-until-a-verdict', { remindAfterMs: [2_000] }, async (fixture) => {
  await fixture.startChange('it');
  await inReview(fixture);
  await fixture.change('it').signal('reviewed', { ...reviewed, verdict: 'commented' });
  await fixture.change('it').until('reminded', ({ mails }) => mails.length > 1);
  await fixture.change('it').signal('reviewed', { ...reviewed, deliveryId: 'v', reviewer: 'ada' });
  await fixture.change('it').signal('pullRequestChanged', merged);
  await ended(fixture);
});

branch('agent-change', 'without-mail-and-forge', { mail: false, forge: false }, async (fixture) => {
  await fixture.startChange('it');
  await inReview(fixture);
  await fixture.change('it').signal('pullRequestChanged', merged);
  await ended(fixture);
});

branch(
  'agent-change',
  'one-mail-refused-and-the-forge-refusing',
  { reviewers: ['gone@example.com', 'ada@example.com'] },
  async (fixture) => {
    fixture.outside.onMail = ({ to }) => {
      if (to === 'gone@example.com') throw refusal('NoMailServer', 'refused');
      return sent;
    };
    fixture.outside.onForge = () => {
      throw refusal('ForgeRefused', '403');
    };
    await fixture.startChange('it');
    await inReview(fixture);
  },
);

branch('agent-change', 'unchanged', {}, async (fixture) => {
  fixture.outside.end = { status: 'completed', prLink: null, error: null };
  await fixture.startChange('it');
  await ended(fixture);
});

branch('agent-change', 'job-failed', { operators: ['ops@example.com', 'oncall@example.com'] }, async (fixture) => {
  fixture.outside.end = { status: 'failed', prLink: null, error: 'exit code 1' };
  await fixture.startChange('it');
  await ended(fixture);
});

branch('agent-change', 'prompt-rejected-and-nobody-to-tell', { operators: [] }, async (fixture) => {
  fixture.outside.onCreate = () => {
    throw refusal('Rejected', '400');
  };
  await fixture.startChange('it');
  await ended(fixture);
});

branch('agent-change', 'key-refused-and-mended', {}, async (fixture) => {
  let refuse = true;
  fixture.outside.onCreate = () => {
    if (refuse) throw refusal('KeyRefused', '401');
  };
  await fixture.startChange('it');
  await fixture.change('it').until('refused', ({ error }) => error !== null);
  refuse = false;
  await fixture.change('it').signal('configChanged');
  await inReview(fixture);
});

branch('agent-change', 'cancelled-while-working', {}, async (fixture) => {
  fixture.outside.end = null;
  await fixture.startChange('it');
  await working(fixture);
  await fixture.change('it').executeUpdate('cancel');
  await ended(fixture);
});

branch('agent-change', 'cancelled-in-review', {}, async (fixture) => {
  await fixture.startChange('it');
  await inReview(fixture);
  await fixture.change('it').executeUpdate('cancel');
  await ended(fixture);
});

branch('agent-change', 'cancelled-by-temporal', {}, async (fixture) => {
  fixture.outside.end = null;
  await fixture.startChange('it');
  await working(fixture);
  await fixture.change('it').cancel();
  await ended(fixture);
});

branch('agent-change', 'continued-as-new-in-review', { remindAfterMs: [86_400_000] }, async (fixture) => {
  await fixture.startChange('it');
  await inReview(fixture);
  await fixture.newBuild('two');
  await fixture.change('it').signal('reviewed', reviewed);
  await inNewRun(fixture.change('it'), () => sleep(100));
  await fixture.change('it').signal('pullRequestChanged', merged);
  await ended(fixture);
});

branch('agent-change', 'expired-while-prompting', { expireAfterMs: 2_000 }, async (fixture) => {
  fixture.outside.onCreate = () => {
    throw refusal('KeyRefused', '401');
  };
  await fixture.startChange('it');
  await ended(fixture);
});

branch('agent-change', 'cancelled-while-prompting', {}, async (fixture) => {
  fixture.outside.onCreate = () => {
    throw ApplicationFailure.create({ type: 'Unavailable', message: 'reset', nextRetryDelay: 30_000 });
  };
  await fixture.startChange('it');
  await fixture.change('it').until('tried', () => fixture.creates > 0);
  await fixture.change('it').executeUpdate('cancel');
  await ended(fixture);
});

branch('agent-change', 'merge-commit-asked-of-the-forge', {}, async (fixture) => {
  await fixture.publish({ id: 'it' });
  await inReview(fixture);
  fixture.outside.pullRequest = { ...fixture.outside.pullRequest, mergeCommitSha: 'c0ffee' };
  await fixture.change('it').signal('pullRequestChanged', { ...merged, mergeCommitSha: null });
  await ended(fixture);
});

branch('agent-rule', 'burst-and-resend', { searchAttributes: true, quietPeriodMs: 500 }, async (fixture) => {
  for (const id of ['it', 'b', 'c', 'b']) await fixture.publish({ id });
  await fixture.rule.signal('unsubscribed', { address: 'bob@example.com' });
  await idle(fixture);
  await fixture.publish({ id: 'd', agentsOwn: true });
  await fixture.rule.signal('ownMerge', { sha: 'entry-6' });
  await fixture.publish({ eventId: 'entry-6' });
  await fixture.publish({ id: 'e' });
  await idle(fixture);
});

branch('agent-rule', 'limited', { maxPerHour: 1 }, async (fixture) => {
  await fixture.publish({ id: 'it' });
  await idle(fixture);
  await fixture.publish({ id: 'b' });
  await sleep(1_500);
  fixture.configure({ maxPerHour: 6 });
  await fixture.rule.signal('configChanged');
  await idle(fixture);
});

branch('agent-rule', 'started-before', {}, async (fixture) => {
  await fixture.startChange('it');
  await fixture.publish({ id: 'it', dedupeMs: 60_000 });
  await idle(fixture);
  await fixture.startChange('other');
  await fixture.publish({ id: 'other' });
  await idle(fixture);
});

branch('agent-rule', 'first-of-several-started-before', {}, async (fixture) => {
  await fixture.startChange('it');
  await fixture.publishAll([{ id: 'it' }, { id: 'new' }, { id: 'newer' }]);
  await idle(fixture);
});

branch('agent-rule', 'same-id-after-its-window', {}, async (fixture) => {
  for (let time = 0; time < 2; time++) {
    await fixture.publish({ id: 'it', dedupeMs: 1 });
    await idle(fixture);
  }
});

branch('agent-rule', 'own-merge-dropped-from-what-waits', { quietPeriodMs: 1_500 }, async (fixture) => {
  await fixture.publish({ id: 'it', eventId: 'c0ffee' });
  await fixture.publish({ id: 'b' });
  await fixture.rule.signal('ownMerge', { sha: 'c0ffee' });
  await idle(fixture);
});

branch('agent-rule', 'continued-as-new-while-collecting', { quietPeriodMs: 1_000 }, async (fixture) => {
  await fixture.publish({ id: 'it' });
  await fixture.newBuild('two');
  await inNewRun(fixture.rule, () => fixture.publish());
  await idle(fixture);
});

branch('agent-rule', 'operators-told-that-no-worker-knew-it', { tellAfterMs: 500 }, async (fixture) => {
  await fixture.publish({ id: 'it' });
  await idle(fixture);
  const { settings } = fixture.outside;
  fixture.outside.settings = null;
  await fixture.rule.signal('configChanged');
  while (fixture.mails.length < 2) await sleep(100);
  fixture.outside.settings = settings;
  while (fixture.mails.length < 3) await sleep(100);
  await fixture.rule.executeUpdate('remove');
});

const temporal = await startDevServer();
const server = asWorkflowServer(temporal);
const worker = createAgentWorker(server.connection, temporal.namespace);
for (const { name, settings, of, play } of unrecorded(branches, ({ of }) => of)) {
  const fixture = await startAgentFixture({ server, worker, settings });
  await play(fixture);
  await sleep(300);
  const { workflowId } = of === 'agent-rule' ? fixture.rule : fixture.change('it');
  await record(of, name, workflowId, temporal.address);
  await fixture.close();
}
await worker.stop();
await temporal.stop();
process.exit(0);

import { WorkflowFailedError, WorkflowUpdateStage } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { waitFor } from '../helpers/system/wait-for.ts';
import { PR_LINK } from './agent-fixture.ts';
import { useAgents } from './use-agents.ts';

const { startAgents, server } = useAgents('dev-server');

const at = '2026-11-21T08:00:00Z';
const merged = { deliveryId: 'm', url: PR_LINK, state: 'merged', mergeCommitSha: 'c0ffee', at };
const reviewed = { deliveryId: 'r', url: PR_LINK, reviewer: 'bob', verdict: 'approved', at };

/** A promise and its resolve function. */
function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

function failure(type: string, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true });
}

describe('a change', () => {
  it.concurrent('runs from the prompt to the pull request, its reviews and its merge', async () => {
    const agents = await startAgents({
      remindAfterMs: [86_400_000],
      reviewers: ['ada@example.com', 'bob@example.com'],
    });
    agents.outside.owners = { mails: ['owner@example.com'], logins: ['ada'], teams: ['docs'] };
    agents.outside.end = null;
    await agents.publish({ id: 'first' });
    const change = agents.change('first');
    await change.until('working', ({ phase }) => phase === 'working');
    agents.outside.end = { status: 'completed', prLink: PR_LINK, error: null };
    const waiting = await change.until('in review', ({ phase }) => phase === 'in-review');
    expect(waiting).toMatchObject({
      site: agents.site,
      rule: 'changelog',
      jobId: 'aj_1',
      prLink: PR_LINK,
      pullRequest: { title: 'Update the changelog', state: 'open' },
      error: null,
      notes: [],
      reviewRequests: { requested: ['ada', 'docs'], refused: [] },
      nextReminderAt: expect.any(String),
    });
    expect(waiting.mails.map(({ event, to, outcome }) => `${event} ${to} ${outcome}`).sort()).toEqual([
      'review-requested ada@example.com sent',
      'review-requested bob@example.com sent',
      'review-requested owner@example.com sent',
    ]);
    await change.signal('reviewed', reviewed);
    await change.signal('pullRequestChanged', merged);
    await expect(change.result()).resolves.toBeUndefined();
    expect(await change.state()).toMatchObject({
      phase: 'merged',
      reviews: [{ reviewer: 'bob' }],
      nextReminderAt: null,
    });
    expect(agents.mails).toHaveLength(3);
  });

  it.concurrent.each([
    ['completed', null, 'unchanged'],
    ['archived', null, 'unchanged'],
    ['archived', PR_LINK, 'in-review'],
  ] as const)('whose job ends %s with the pull request %s becomes %s', async (status, prLink, expected) => {
    const agents = await startAgents();
    agents.outside.end = { status, prLink, error: null };
    const change = await agents.startChange('ended');
    expect(await change.until(expected, ({ phase }) => phase === expected)).toMatchObject({ prLink, error: null });
    if (expected === 'in-review') return;
    await expect(change.result()).resolves.toBeUndefined();
    expect(agents.mails).toEqual([]);
  });

  it.concurrent("that changed nothing shows the agent's last message in its own state and in its rule's state", async () => {
    const agents = await startAgents();
    agents.outside.end = { status: 'completed', prLink: null, error: null };
    await agents.publish({ id: 'quiet' });
    const { changes } = await agents.untilRule('ended', ({ changes: [newest] }) => newest?.end !== undefined);
    const change = agents.change('quiet');
    const end = { phase: 'unchanged', message: 'Nothing to do.' };
    expect(changes).toMatchObject([{ workflowId: change.workflowId, end }]);
    expect(await change.state()).toMatchObject({ phase: 'unchanged', lastWords: 'Nothing to do.' });
  });

  it.concurrent("that changed nothing ends even if the service does not return the agent's last message", async () => {
    const agents = await startAgents();
    agents.outside.end = { status: 'completed', prLink: null, error: null };
    agents.outside.lastWords = () => {
      throw failure('KeyRefused', '401: unknown key');
    };
    const change = await agents.startChange('mute');
    await expect(change.result()).resolves.toBeUndefined();
    const notes = ["what the agent said last isn't known: 401: unknown key"];
    expect(await change.state()).toMatchObject({ phase: 'unchanged', lastWords: null, notes });
  });

  it.concurrent.each(['job', 'prompt'])(
    'whose %s fails sends each operator one mail, reviewers none, and fails its workflow',
    async (what) => {
      const message = 'exit code 1: no disk\n\nwhat the agent printed';
      const agents = await startAgents({ operators: ['ops@example.com', 'oncall@example.com'] });
      if (what === 'job') agents.outside.end = { status: 'failed', prLink: null, error: message };
      else {
        agents.outside.onCreate = () => {
          throw failure('Rejected', message);
        };
      }
      const change = await agents.startChange('failed');
      const error: unknown = await change.result().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(WorkflowFailedError);
      expect(error).toMatchObject({ cause: { type: 'AgentJobFailed', message: 'exit code 1: no disk' } });
      const state = await change.state();
      expect(state).toMatchObject({ phase: 'failed', error: message, prLink: null });
      expect(state.mails.map(({ event, to, outcome }) => `${event} ${to} ${outcome}`).sort()).toEqual([
        'job-failed oncall@example.com sent',
        'job-failed ops@example.com sent',
      ]);
    },
  );

  it.concurrent('works without a mail server and a forge, and notes what it skipped', async () => {
    const agents = await startAgents({ mail: false, forge: false, remindAfterMs: [1] });
    const change = await agents.startChange('bare');
    const state = await change.until('in review', ({ phase }) => phase === 'in-review');
    expect(state.notes).toEqual([
      'no mail server is configured: reviewers get no mail',
      'no forge is configured: no review is requested there',
    ]);
    expect(state).toMatchObject({ mails: [], nextReminderAt: null, reviewRequests: { requested: [] } });
    await change.signal('pullRequestChanged', { ...merged, state: 'closed' });
    await change.until('closed', ({ phase }) => phase === 'closed');
    expect({ mails: agents.mails, requests: agents.requests, reads: agents.reads }).toEqual({
      mails: [],
      requests: [],
      reads: 0,
    });
  });

  it.concurrent('whose forge fails still sends mail to the reviewers of the rule', async () => {
    const agents = await startAgents();
    agents.outside.onForge = (call) => {
      throw failure('ForgeRefused', `403 on ${call}`);
    };
    const change = await agents.startChange('forge-refused');
    const state = await change.until('in review', ({ phase }) => phase === 'in-review');
    expect(state.mails).toMatchObject([{ to: 'ada@example.com', outcome: 'sent' }]);
    expect(state.notes.join()).toContain('403 on plan');
  });

  it.concurrent('whose rule the worker no longer knows keeps its last settings', async () => {
    const agents = await startAgents();
    let forgeIsUp = false;
    agents.outside.onForge = (call) => {
      if (call !== 'plan' || forgeIsUp) return;
      throw ApplicationFailure.create({ type: 'ForgeUnavailable', message: 'down', nextRetryDelay: 1_000 });
    };
    const change = await agents.startChange('forgotten');
    await change.until('notifying', ({ phase }) => phase === 'notifying');
    agents.outside.settings = null;
    await change.signal('configChanged');
    await change.until('unconfigured', ({ error }) => error?.includes('not configured') === true);
    forgeIsUp = true;
    await change.until('in review', ({ phase }) => phase === 'in-review');
    await waitFor(() => agents.mails.length > 0, { describe: 'requested a review' });
    expect(agents.mails).toEqual(['review-requested ada@example.com']);
  });

  it.concurrent('sends one mail to an address that the configuration lists twice', async () => {
    const agents = await startAgents({ operators: ['ops@example.com', 'Ops@example.com', 'ops@example.com'] });
    agents.outside.end = { status: 'failed', prLink: null, error: 'no disk' };
    const change = await agents.startChange('twice');
    await expect(change.result()).rejects.toThrow();
    expect(agents.mails).toEqual(['job-failed ops@example.com']);
  });

  it.concurrent('shows a mail that failed permanently as refused, and an interrupted one as unknown', async () => {
    const agents = await startAgents({ reviewers: ['a@example.com', 'b@example.com'] });
    agents.outside.onMail = ({ to }) => {
      if (to === 'a@example.com') throw failure('NoMailServer', 'smtp is not configured');
      return { outcome: 'unknown', detail: 'the connection broke after the last line' };
    };
    const change = await agents.startChange('given-up');
    const { mails } = await change.until('in review', ({ phase }) => phase === 'in-review');
    expect(mails.map(({ to, outcome, detail }) => `${to} ${outcome}: ${detail}`).sort()).toEqual([
      'a@example.com refused: smtp is not configured',
      'b@example.com unknown: the connection broke after the last line',
    ]);
  });

  it.concurrent('that is canceled while its job is being created also cancels the job', async () => {
    const agents = await startAgents();
    agents.outside.end = null;
    const creating = deferred();
    agents.outside.createEnds = creating.promise;
    const change = await agents.startChange('being-created');
    await change.until('creating its job', () => agents.creates > 0);
    const cancel = await change.startUpdate('cancel', { waitForStage: WorkflowUpdateStage.ACCEPTED });
    creating.resolve();
    expect(await cancel.result()).toMatchObject({ phase: 'cancelled', jobId: 'aj_1' });
    expect(agents.canceled).toEqual(['aj_1']);
  });

  it.concurrent('that is canceled notes that a job may exist if the response was lost, but not if it was rejected', async () => {
    const agents = await startAgents();
    agents.outside.onCreate = () => {
      throw ApplicationFailure.create({ type: 'Unavailable', message: 'reset', nextRetryDelay: 30_000 });
    };
    const lost = await agents.startChange('lost-answer');
    await lost.until('requested its job', () => agents.creates > 0);
    expect(await lost.executeUpdate('cancel')).toMatchObject({
      phase: 'cancelled',
      jobId: null,
      notes: [expect.stringContaining('may have made a job')],
    });
    agents.outside.onCreate = () => {
      throw failure('KeyRefused', '401');
    };
    const refused = await agents.startChange('refused');
    await refused.until('refused', ({ error }) => error !== null);
    expect(await refused.executeUpdate('cancel')).toMatchObject({ phase: 'cancelled', notes: [] });
  });

  it.concurrent('that is merged while it is being canceled still reports the merge to the rules', async () => {
    const agents = await startAgents();
    const sending = deferred();
    let mails = 0;
    agents.outside.onMail = async () => {
      mails++;
      await sending.promise;
      return { outcome: 'sent', detail: null };
    };
    await agents.publish({ id: 'overtaken' });
    const change = agents.change('overtaken');
    await waitFor(() => mails > 0, { describe: 'was sending a mail' });
    const cancel = await change.startUpdate('cancel', { waitForStage: WorkflowUpdateStage.ACCEPTED });
    await change.signal('pullRequestChanged', merged);
    sending.resolve();
    await change.result();
    await cancel.result().catch(() => {});
    expect(await change.state()).toMatchObject({ phase: 'merged' });
    await agents.publish({ eventId: 'c0ffee' });
    await agents.publish({ title: 'Later' });
    await waitFor(() => agents.jobs.length === 2, { describe: 'prompted for the later event' });
    expect(agents.jobs[1]).toMatchObject({ eventCount: 1, events: [{ title: 'Later' }] });
  });

  it.concurrent('that is canceled in review does not change the pull request, and cannot be canceled again', async () => {
    const agents = await startAgents();
    const change = await agents.startChange('in-review');
    await change.until('in review', ({ phase }) => phase === 'in-review');
    expect(await change.executeUpdate('cancel')).toMatchObject({ phase: 'cancelled', prLink: PR_LINK });
    await change.result();
    expect(agents.canceled).toEqual([]);
    await expect(change.executeUpdate('cancel')).rejects.toThrow();
  });

  it.concurrent('that is canceled while the agent works, twice or through Temporal, cancels its job and sends no mail', async () => {
    const agents = await startAgents();
    agents.outside.end = null;
    const change = await agents.startChange('twice');
    await change.until('working', ({ phase }) => phase === 'working');
    const [state] = await Promise.all([change.executeUpdate('cancel'), change.executeUpdate('cancel').catch(() => {})]);
    expect(state).toMatchObject({ phase: 'cancelled', jobId: 'aj_1' });
    await expect(change.result()).resolves.toBeUndefined();
    const other = await agents.startChange('by-temporal');
    await other.until('working', ({ phase }) => phase === 'working');
    await other.cancel();
    await expect(other.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    expect(agents.canceled).toEqual(['aj_1', 'aj_2']);
    expect((await other.state()).phase).toBe('cancelled');
    expect(agents.mails).toEqual([]);
  });

  it.concurrent('whose API key was rejected is retried at once when the configuration changes', async () => {
    const agents = await startAgents();
    let refuse = true;
    agents.outside.onCreate = () => {
      if (refuse) throw failure('KeyRefused', '401: unknown key');
    };
    const change = await agents.startChange('refused');
    await change.until('refused', ({ error }) => error === '401: unknown key');
    refuse = false;
    await change.signal('configChanged');
    await change.until('in review', ({ phase, error }) => phase === 'in-review' && error === null);
    expect(agents.jobs).toHaveLength(1);
  });

  it.concurrent('has search attributes for its pull request, site and phase, and a memo', async () => {
    const agents = await startAgents({ searchAttributes: true });
    await agents.publish({ id: 'found' });
    const change = agents.change('found');
    await change.until('in review', ({ phase }) => phase === 'in-review');
    const { client } = server();
    const query = `GalleyPullRequest = '${PR_LINK}' AND GalleySite = '${agents.site}' AND GalleyPhase = 'in-review'`;
    const list = async (): Promise<string[]> => {
      const found: string[] = [];
      for await (const { workflowId } of client.workflow.list({ query })) found.push(workflowId);
      return found;
    };
    await waitFor(async () => (await list()).length > 0, { describe: 'listed' });
    expect(await list()).toEqual([change.workflowId]);
    expect((await change.describe()).memo).toEqual({ site: agents.site, rule: 'changelog', prLink: PR_LINK });
    const { searchAttributes } = await agents.rule.describe();
    expect(searchAttributes).toMatchObject({ GalleySite: [agents.site], GalleyPhase: ['idle'] });
  });

  it.concurrent('ignores events of another pull request and malformed events', async () => {
    const agents = await startAgents();
    const change = await agents.startChange('other');
    await change.until('in review', ({ phase }) => phase === 'in-review');
    await change.signal('pullRequestChanged', { ...merged, url: `${PR_LINK}7` });
    await change.signal('pullRequestChanged', { state: 'merged' });
    await change.signal('reviewed', 'hello');
    expect(await change.state()).toMatchObject({ phase: 'in-review', reviews: [] });
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { waitFor } from '../helpers/system/wait-for.ts';
import { PR_LINK } from './agent-bench.ts';
import { runsOf, useAgentBenches } from './agent-benches.ts';

const { bench, server } = useAgentBenches();

const at = '2026-11-21T08:00:00Z';
const merged = { deliveryId: 'm', url: PR_LINK, state: 'merged', mergeCommitSha: 'c0ffee', at };
const reviewed = { deliveryId: 'r', url: PR_LINK, reviewer: 'bob', verdict: 'approved', at };

function failure(type: string, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true });
}

describe('a change', () => {
  it('goes from the prompt to the pull request, its reviewers and its merge', async () => {
    const rig = await bench({ remindAfterMs: [86_400_000], reviewers: ['ada@example.com', 'bob@example.com'] });
    rig.outside.owners = { mails: ['owner@example.com'], logins: ['ada'], teams: ['docs'] };
    rig.outside.end = null;
    await rig.publish({ id: 'first' });
    const change = rig.change('first');
    await change.until('working', ({ phase }) => phase === 'working');
    rig.outside.end = { status: 'completed', prLink: PR_LINK, error: null };
    const waiting = await change.until('in review', ({ phase }) => phase === 'in-review');
    expect(waiting).toMatchObject({
      site: rig.site,
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
    expect(rig.mails).toHaveLength(3);
    await rig.publish({ eventId: 'c0ffee' });
    await sleep(1_500);
    expect(rig.jobs).toHaveLength(1);
  });

  it('that changed no file ends without a word to anybody', async () => {
    const rig = await bench();
    rig.outside.end = { status: 'completed', prLink: null, error: null };
    const change = await rig.startChange('unchanged');
    await expect(change.result()).resolves.toBeUndefined();
    expect(await change.state()).toMatchObject({ phase: 'unchanged', prLink: null, mails: [], error: null });
    expect(rig.mails).toEqual([]);
  });

  it('whose job was archived goes by whether there is a pull request', async () => {
    const rig = await bench();
    rig.outside.end = { status: 'archived', prLink: null, error: null };
    const unchanged = await rig.startChange('archived');
    await unchanged.result();
    expect((await unchanged.state()).phase).toBe('unchanged');
    rig.outside.end = { status: 'archived', prLink: PR_LINK, error: null };
    const change = await rig.startChange('archived-with-link');
    await change.until('in review', ({ phase }) => phase === 'in-review');
  });

  it.each(['job', 'prompt'])(
    'whose %s fails tells each operator once, no reviewer, and fails its workflow',
    async (what) => {
      const said = 'exit code 1: no disk\n\nwhat the agent printed';
      const rig = await bench({ operators: ['ops@example.com', 'oncall@example.com'] });
      if (what === 'job') rig.outside.end = { status: 'failed', prLink: null, error: said };
      else {
        rig.outside.onCreate = () => {
          throw failure('Rejected', said);
        };
      }
      const change = await rig.startChange('failed');
      const error: unknown = await change.result().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(WorkflowFailedError);
      expect(error).toMatchObject({ cause: { type: 'AgentJobFailed', message: 'exit code 1: no disk' } });
      const state = await change.state();
      expect(state).toMatchObject({ phase: 'failed', error: said, prLink: null });
      expect(state.mails.map(({ event, to, outcome }) => `${event} ${to} ${outcome}`).sort()).toEqual([
        'job-failed oncall@example.com sent',
        'job-failed ops@example.com sent',
      ]);
    },
  );

  it('needs neither a mail server nor a forge, and says what was left out', async () => {
    const rig = await bench({ mail: false, forge: false, remindAfterMs: [1] });
    const change = await rig.startChange('bare');
    const state = await change.until('in review', ({ phase }) => phase === 'in-review');
    expect(state.notes).toEqual([
      'no mail server is configured: reviewers get no mail',
      'no forge is configured: no review is requested there',
    ]);
    expect(state).toMatchObject({ mails: [], nextReminderAt: null, reviewRequests: { requested: [] } });
    await change.signal('pullRequestChanged', { ...merged, state: 'closed' });
    await change.result();
    expect({ mails: rig.mails, requests: rig.requests, reads: rig.reads }).toEqual({
      mails: [],
      requests: [],
      reads: 0,
    });
  });

  it('whose forge fails at planning and asking still mails the reviewers of the rule', async () => {
    const rig = await bench();
    rig.outside.onForge = (call) => {
      throw failure('ForgeRefused', `403 on ${call}`);
    };
    const change = await rig.startChange('forge-refused');
    const state = await change.until('in review', ({ phase }) => phase === 'in-review');
    expect(state.mails).toMatchObject([{ to: 'ada@example.com', outcome: 'sent' }]);
    expect(state.notes.join()).toContain('403 on plan');
  });

  it('of a rule that is gone before it began prompts nothing', async () => {
    const rig = await bench();
    rig.outside.settings = null;
    const change = await rig.startChange('orphan');
    await change.result();
    expect(await change.state()).toMatchObject({ phase: 'cancelled', jobId: null });
    expect(rig.jobs).toEqual([]);
  });
});

describe('a rule that is taken out of the configuration', () => {
  it('while the job is being made leaves a change that can still be cancelled, with its job', async () => {
    const rig = await bench();
    rig.outside.end = null;
    rig.outside.createTakesMs = 3_000;
    const change = await rig.startChange('taken-out');
    await change.until('being made', () => rig.creates > 0);
    rig.outside.settings = null;
    await change.signal('configChanged');
    await change.until('taken out', ({ notes }) => notes.length > 0);
    expect(await change.executeUpdate('cancel')).toMatchObject({ phase: 'cancelled', jobId: 'aj_1' });
    expect(rig.cancelled).toEqual(['aj_1']);
  });

  it('while the prompt is tried again ends the change without an error', async () => {
    const rig = await bench();
    rig.outside.onCreate = () => {
      if (rig.outside.settings === null) throw failure('Rejected', 'the rule is no longer configured');
      throw ApplicationFailure.create({ type: 'Unavailable', message: 'away', nextRetryDelay: 2_000 });
    };
    const change = await rig.startChange('taken-out');
    await change.until('tried', () => rig.creates > 0);
    rig.outside.settings = null;
    await change.signal('configChanged');
    await expect(change.result()).resolves.toBeUndefined();
    const { notes, ...state } = await change.state();
    expect(state).toMatchObject({ phase: 'cancelled', jobId: null, mails: [] });
    expect(notes).toContainEqual(expect.stringContaining('may have made a job'));
  });

  it('while its reviewers are looked up writes to none of them', async () => {
    const rig = await bench();
    let [asked, told] = [0, false];
    rig.outside.onForge = (call) => {
      if (call !== 'plan') return;
      asked++;
      if (!told) throw ApplicationFailure.create({ type: 'ForgeUnavailable', message: 'away', nextRetryDelay: 1_000 });
    };
    const change = await rig.startChange('taken-out');
    await change.until('asked', () => asked > 0);
    rig.outside.settings = null;
    await change.signal('configChanged');
    await change.until('taken out', ({ notes }) => notes.length > 0);
    told = true;
    await change.until('in review', ({ phase }) => phase === 'in-review');
    expect(rig.mails).toEqual([]);
  });
});

describe('mail', () => {
  it('goes once to an address that the configuration lists twice', async () => {
    const rig = await bench({ operators: ['ops@example.com', 'Ops@example.com', 'ops@example.com'] });
    rig.outside.end = { status: 'failed', prLink: null, error: 'no disk' };
    const change = await rig.startChange('twice');
    await expect(change.result()).rejects.toThrow();
    expect(rig.mails).toEqual(['job-failed ops@example.com']);
  });

  it('that is refused for good is told in the state, stops no other, and is followed by no reminder', async () => {
    const rig = await bench({ reviewers: ['gone@example.com', 'ada@example.com'], remindAfterMs: [2_000] });
    rig.outside.onMail = ({ to }) =>
      to === 'gone@example.com'
        ? { outcome: 'refused', detail: '550 no such user' }
        : { outcome: 'sent', detail: null };
    const change = await rig.startChange('bounced');
    const { mails } = await change.until('reminded', (state) => state.mails.length === 3);
    expect(mails.find(({ to }) => to === 'gone@example.com')).toMatchObject({
      outcome: 'refused',
      detail: '550 no such user',
    });
    await sleep(500);
    expect(rig.mails.filter((mail) => mail.startsWith('reminder'))).toEqual(['reminder-1 ada@example.com']);
  });

  it('whose activity gives up is told as refused, and one that was cut off as unknown', async () => {
    const rig = await bench({ reviewers: ['a@example.com', 'b@example.com'] });
    rig.outside.onMail = ({ to }) => {
      if (to === 'a@example.com') throw failure('NoMailServer', 'smtp is not configured');
      return { outcome: 'unknown', detail: 'the connection broke after the last line' };
    };
    const change = await rig.startChange('given-up');
    const { mails } = await change.until('in review', ({ phase }) => phase === 'in-review');
    expect(mails.map(({ to, outcome, detail }) => `${to} ${outcome}: ${detail}`).sort()).toEqual([
      'a@example.com refused: smtp is not configured',
      'b@example.com unknown: the connection broke after the last line',
    ]);
  });
});

describe('an update "cancel"', () => {
  it('ends the change and its job while the agent works', async () => {
    const rig = await bench();
    rig.outside.end = null;
    const change = await rig.startChange('working');
    await change.until('working', ({ phase }) => phase === 'working');
    expect(await change.executeUpdate('cancel')).toMatchObject({ phase: 'cancelled', jobId: 'aj_1' });
    await expect(change.result()).resolves.toBeUndefined();
    expect(rig.cancelled).toEqual(['aj_1']);
    expect(rig.mails).toEqual([]);
  });

  it('cancels also the job that is just being made', async () => {
    const rig = await bench();
    rig.outside.end = null;
    let entered = (): void => {};
    const inside = new Promise<void>((resolve) => {
      entered = resolve;
    });
    rig.outside.onCreate = () => entered();
    rig.outside.createTakesMs = 1_500;
    const change = await rig.startChange('being-made');
    await inside;
    expect(await change.executeUpdate('cancel')).toMatchObject({ phase: 'cancelled', jobId: 'aj_1' });
    expect(rig.cancelled).toEqual(['aj_1']);
  });

  it('notes a job that may be at work because its answer was lost, and none where the service said no', async () => {
    const rig = await bench();
    rig.outside.onCreate = () => {
      throw ApplicationFailure.create({ type: 'Unavailable', message: 'reset', nextRetryDelay: 30_000 });
    };
    const lost = await rig.startChange('lost-answer');
    await lost.until('tried', () => rig.creates > 0);
    expect(await lost.executeUpdate('cancel')).toMatchObject({
      phase: 'cancelled',
      jobId: null,
      notes: [expect.stringContaining('may have made a job')],
    });
    rig.outside.onCreate = () => {
      throw failure('KeyRefused', '401');
    };
    const refused = await rig.startChange('refused');
    await refused.until('refused', ({ error }) => error !== null);
    expect(await refused.executeUpdate('cancel')).toMatchObject({ phase: 'cancelled', notes: [] });
  });

  it('that is overtaken by the merge still tells the rules of it', async () => {
    const rig = await bench();
    let sending = false;
    rig.outside.onMail = async () => {
      sending = true;
      await sleep(2_000);
      return { outcome: 'sent', detail: null };
    };
    await rig.publish({ id: 'overtaken' });
    const change = rig.change('overtaken');
    await waitFor(async () => sending, { describe: 'a mail is on its way' });
    // Where the machine is so slow that the merge comes first, it is refused: then this is a merge like any other.
    const cancelled = change.executeUpdate('cancel').catch(() => {});
    await sleep(300);
    await change.signal('pullRequestChanged', merged);
    await change.result();
    await cancelled;
    expect(await change.state()).toMatchObject({ phase: 'merged' });
    await rig.publish({ eventId: 'c0ffee' });
    await sleep(1_500);
    expect(rig.jobs).toHaveLength(1);
  });

  it('leaves the pull request as it is, and is refused once the change is over', async () => {
    const rig = await bench();
    const change = await rig.startChange('in-review');
    await change.until('in review', ({ phase }) => phase === 'in-review');
    expect(await change.executeUpdate('cancel')).toMatchObject({ phase: 'cancelled', prLink: PR_LINK });
    await change.result();
    expect(rig.cancelled).toEqual([]);
    await expect(change.executeUpdate('cancel')).rejects.toThrow();
  });

  it('may be sent twice, and Temporal’s own cancelling ends the job too', async () => {
    const rig = await bench();
    rig.outside.end = null;
    const change = await rig.startChange('twice');
    await change.until('working', ({ phase }) => phase === 'working');
    await Promise.all([change.executeUpdate('cancel'), change.executeUpdate('cancel').catch(() => {})]);
    const other = await rig.startChange('by-temporal');
    await other.until('working', ({ phase }) => phase === 'working');
    await other.cancel();
    await expect(other.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    expect(rig.cancelled).toEqual(['aj_1', 'aj_2']);
    expect((await other.state()).phase).toBe('cancelled');
  });
});

describe('a refused key', () => {
  it('is tried again at once when a worker announces a new configuration', async () => {
    const rig = await bench();
    let refuse = true;
    rig.outside.onCreate = () => {
      if (refuse) throw failure('KeyRefused', '401: unknown key');
    };
    const change = await rig.startChange('refused');
    await change.until('refused', ({ error }) => error === '401: unknown key');
    refuse = false;
    await change.signal('configChanged');
    await change.until('in review', ({ phase, error }) => phase === 'in-review' && error === null);
    expect(rig.jobs).toHaveLength(1);
  });
});

describe('a pull request', () => {
  it('is found by its search attribute, and by the memo', async () => {
    const rig = await bench({ searchAttributes: true });
    await rig.publish({ id: 'found' });
    const change = rig.change('found');
    await change.until('in review', ({ phase }) => phase === 'in-review');
    const { client } = server();
    const query = `GalleyPullRequest = '${PR_LINK}' AND GalleySite = '${rig.site}' AND GalleyPhase = 'in-review'`;
    const list = async (): Promise<string[]> => {
      const found: string[] = [];
      for await (const { workflowId } of client.workflow.list({ query })) found.push(workflowId);
      return found;
    };
    await waitFor(async () => (await list()).length > 0, { describe: 'listed' });
    expect(await list()).toEqual([change.workflowId]);
    expect((await change.describe()).memo).toEqual({ site: rig.site, rule: 'changelog', prLink: PR_LINK });
    const { searchAttributes } = await rig.rule.describe();
    expect(searchAttributes).toMatchObject({ GalleySite: [rig.site], GalleyPhase: ['idle'] });
  });

  it('of which another is told, or which is told of in another shape, changes nothing', async () => {
    const rig = await bench();
    const change = await rig.startChange('other');
    await change.until('in review', ({ phase }) => phase === 'in-review');
    await change.signal('pullRequestChanged', { ...merged, url: `${PR_LINK}7` });
    await change.signal('pullRequestChanged', { state: 'merged' });
    await change.signal('reviewed', 'hello');
    await sleep(500);
    expect(await change.state()).toMatchObject({ phase: 'in-review', reviews: [] });
  });
});

describe('a change that continues as new', () => {
  it('for a new build keeps all it knows, sends no mail twice, and still hears of the merge', async () => {
    const rig = await bench({ remindAfterMs: [60_000] });
    const change = await rig.startChange('new-build');
    const before = await change.until('in review', ({ phase }) => phase === 'in-review');
    const { runId } = await change.describe();
    if (rig.outside.settings) rig.outside.settings = { ...rig.outside.settings, build: 'two' };
    await Promise.all([change.signal('configChanged'), change.signal('reviewed', reviewed)]);
    await waitFor(async () => (await change.describe()).runId !== runId, { describe: 'continued as new' });
    const after = await change.until('known', ({ reviews }) => reviews.length === 1);
    expect(after).toEqual({ ...before, reviews: [{ reviewer: 'bob', verdict: 'approved', at }], nextReminderAt: null });
    await change.signal('reviewed', reviewed);
    await change.signal('pullRequestChanged', merged);
    await change.result();
    expect(rig.mails).toEqual(['review-requested ada@example.com']);
    expect((await change.describe()).memo).toMatchObject({ prLink: PR_LINK });
  });

  it('while its job runs goes on with the same job', async () => {
    const rig = await bench();
    rig.outside.end = null;
    const change = await rig.startChange('while-working');
    await change.until('working', ({ phase }) => phase === 'working');
    const { runId } = await change.describe();
    if (rig.outside.settings) rig.outside.settings = { ...rig.outside.settings, build: 'two' };
    await change.signal('configChanged');
    await waitFor(async () => (await change.describe()).runId !== runId, { describe: 'continued as new' });
    rig.outside.end = { status: 'completed', prLink: PR_LINK, error: null };
    await change.until('in review', ({ phase }) => phase === 'in-review');
    expect(rig.jobs).toHaveLength(1);
  });

  it('because of a storm of news loses none of them and sends nothing twice', async () => {
    const rig = await bench();
    const change = await rig.startChange('storm');
    await change.until('in review', ({ phase }) => phase === 'in-review');
    for (let count = 0; count < 1_100; count += 10) {
      const some = Array.from({ length: 10 }, (_, index) => {
        const reviewer = `reviewer-${(count + index) % 90}`;
        return change.signal('reviewed', { ...reviewed, deliveryId: `d-${count + index}`, reviewer });
      });
      await Promise.all(some);
      await sleep(20);
    }
    const { reviews } = await change.until('all known', (state) => state.reviews.length === 90);
    expect(reviews).toHaveLength(90);
    const runs = await runsOf(server().client, change.workflowId);
    expect(runs.length).toBeGreaterThan(1);
    expect(Math.max(...runs.map(({ length }) => length))).toBeLessThan(2_000);
    expect(rig.mails).toHaveLength(1);
  });
});

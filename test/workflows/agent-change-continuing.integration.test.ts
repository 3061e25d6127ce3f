import { ApplicationFailure } from '@temporalio/common';
import { waitFor } from '../helpers/system/wait-for.ts';
import { PR_LINK } from './agent-fixture.ts';
import { useAgents } from './use-agents.ts';

const { startAgents } = useAgents('dev-server');

const at = '2026-11-21T08:00:00Z';
const merged = { deliveryId: 'm', url: PR_LINK, state: 'merged', mergeCommitSha: 'c0ffee', at };
const reviewed = { deliveryId: 'r', url: PR_LINK, reviewer: 'ada', verdict: 'approved', at };

describe('a change that continues as new', () => {
  it('for a new build keeps its state, sends no mail twice, and still ends with the merge', async () => {
    const agents = await startAgents({ remindAfterMs: [3_600_000] });
    const change = await agents.startChange('new-build');
    const before = await change.until('in review', ({ phase }) => phase === 'in-review');
    const { runId } = await change.describe();
    await agents.newBuild('two');
    await change.signal('reviewed', reviewed);
    await waitFor(async () => (await change.describe()).runId !== runId, { describe: 'continued as new' });
    const after = await change.until('known', ({ reviews }) => reviews.length === 1);
    expect(after).toEqual({ ...before, reviews: [{ reviewer: 'ada', verdict: 'approved', at }], nextReminderAt: null });
    await change.signal('reviewed', reviewed);
    await change.signal('pullRequestChanged', merged);
    await change.result();
    expect(agents.mails).toEqual(['review-requested ada@example.com']);
    expect((await change.describe()).memo).toMatchObject({ prLink: PR_LINK });
  });

  it('reports its pull request as opened and merged once each, also across runs', async () => {
    const agents = await startAgents({ notify: ['pull-request'] });
    const change = await agents.startChange('reported');
    await waitFor(() => agents.notified.length === 1, { describe: 'reported the pull request' });
    const { runId } = await change.describe();
    await agents.newBuild('reported');
    await change.signal('reviewed', reviewed);
    await waitFor(async () => (await change.describe()).runId !== runId, { describe: 'continued as new' });
    await change.signal('pullRequestChanged', merged);
    await change.result();
    expect(agents.notified.map(({ type, data }) => ({ type, ...data }))).toEqual(
      ['opened', 'merged'].map((action) => ({
        ...{ type: 'pull-request', site: agents.site, rule: 'changelog', action },
        ...{ title: expect.any(String), url: PR_LINK },
      })),
    );
    expect(new Set(agents.notified.map(({ id }) => id)).size).toBe(2);
  });

  it('while very many events arrive loses none of them and sends no mail twice', async () => {
    const agents = await startAgents();
    const change = await agents.startChange('storm');
    await change.until('in review', ({ phase }) => phase === 'in-review');
    const { runId } = await change.describe();
    let building: Promise<void> | undefined;
    for (let count = 0; count < 180; count += 10) {
      if (count === 60) building = agents.newBuild('storm');
      // The last ones wake the workflow in the new build.
      if (count === 170) await building;
      const some = Array.from({ length: 10 }, (_, index) => {
        const reviewer = `reviewer-${(count + index) % 90}`;
        return change.signal('reviewed', { ...reviewed, deliveryId: `d-${count + index}`, reviewer });
      });
      await Promise.all(some);
    }
    await waitFor(async () => (await change.describe()).runId !== runId, { describe: 'continued as new' });
    const { reviews } = await change.until('all known', (state) => state.reviews.length === 90);
    expect(reviews).toHaveLength(90);
    expect(agents.mails).toHaveLength(1);
  });

  it('while its job runs continues with the same job', async () => {
    const agents = await startAgents();
    agents.outside.end = null;
    const change = await agents.startChange('while-working');
    await change.until('working', ({ phase }) => phase === 'working');
    const { runId } = await change.describe();
    await agents.newBuild('three');
    await change.signal('configChanged');
    await waitFor(async () => (await change.describe()).runId !== runId, { describe: 'continued as new' });
    agents.outside.end = { status: 'completed', prLink: PR_LINK, error: null };
    await change.until('in review', ({ phase }) => phase === 'in-review');
    expect(agents.jobs).toHaveLength(1);
  });

  it('sends the same prompt in every attempt and run, even if the rule was edited meanwhile', async () => {
    const agents = await startAgents();
    const requests: string[] = [];
    let refuses = true;
    agents.outside.onCreate = ({ idempotencyKey, projectId, prompt }) => {
      requests.push(`${idempotencyKey} ${projectId} ${prompt}`);
      if (refuses) {
        throw ApplicationFailure.create({ type: 'KeyRefused', message: '401: unknown key', nonRetryable: true });
      }
    };
    const change = await agents.startChange('edited');
    await change.until('refused', ({ error }) => error !== null);
    const { runId } = await change.describe();
    agents.outside.template = 'Edited:';
    await agents.newBuild('four');
    await change.signal('configChanged');
    await waitFor(async () => (await change.describe()).runId !== runId, { describe: 'continued as new' });
    refuses = false;
    await change.signal('configChanged');
    await change.until('in review', ({ phase }) => phase === 'in-review');
    expect(requests.length).toBeGreaterThan(1);
    expect(new Set(requests)).toEqual(new Set([`${runId}:1 prj_docs Update the changelog: A page of 1`]));
  });
});

import { ApplicationFailure } from '@temporalio/common';
import type { ReviewMailInput } from '../../activities/mails/mail-input.ts';
import { RULE_SETTINGS } from '../helpers/rule-settings.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { type AgentFixture, type ChangeHandle, PR_LINK } from './agent-fixture.ts';
import { useAgents } from './use-agents.ts';

const { startAgents } = useAgents('dev-server');

const at = '2026-11-21T08:00:00Z';
const merged = { deliveryId: 'm', url: PR_LINK, state: 'merged', mergeCommitSha: 'c0ffee', at };
const COMPLETED = { status: 'completed', prLink: PR_LINK, error: null } as const;

/** A change in review by ada, whose agent answers follow-ups at once unless `outside.end` is null. */
async function inReview(max = 2, settings: Parameters<typeof startAgents>[0] = {}) {
  const agents = await startAgents({ followUps: { max }, ...settings });
  const change = await agents.startChange('reviewed');
  await change.until('in review', ({ phase }) => phase === 'in-review');
  return { agents, change };
}

/** As forges do: the review can be read, and its webhook arrives, which need not have the id. */
async function requestChanges(agents: AgentFixture, change: ChangeHandle, id: string, reviewer = 'ada') {
  const { outside } = agents;
  const changeRequests = [...(outside.pullRequest.changeRequests ?? []), { id, reviewer, at }];
  outside.pullRequest = { ...outside.pullRequest, changeRequests };
  const event = { deliveryId: `of ${id}`, url: PR_LINK, reviewer, verdict: 'changes-requested', at };
  await change.signal('reviewed', event);
  await change.signal('reviewed', event);
}

const keys = ({ messages }: AgentFixture): string[] => [...messages.keys()].map((key) => key.replace(/^[^:]+:/, ''));

const handled = (change: ChangeHandle, sent: number) =>
  change.until(`${sent} answered`, ({ followUps }) => followUps?.sent === sent && followUps.waitsFor !== 'agent');

describe('a review that requests changes', () => {
  it.concurrent('becomes one follow-up, whose answer is mailed; after followUps.max a person is asked once', async () => {
    const { agents, change } = await inReview(2);
    const sent: ReviewMailInput[] = [];
    agents.outside.onMail = (mail) => {
      if ('followUp' in mail) sent.push(mail);
      return { outcome: 'sent', detail: null };
    };
    agents.outside.lastWords = () => 'Made it shorter.';
    agents.outside.end = null;
    await requestChanges(agents, change, '1');
    const working = await change.until('revising', ({ phase }) => phase === 'revising');
    const lastReview = { id: '1', reviewer: 'ada', at };
    expect(working.followUps).toEqual({ sent: 1, max: 2, lastReview, waitsFor: 'agent', reason: null });
    await requestChanges(agents, change, '2');
    expect(keys(agents)).toEqual(['review:1']);
    agents.outside.end = COMPLETED;
    expect(await handled(change, 2)).toMatchObject({ phase: 'in-review', followUps: { waitsFor: 'review' } });
    expect([keys(agents), [...agents.messages.values()]]).toEqual([
      ['review:1', 'review:2'],
      ['what 1 says', 'what 2 says'],
    ]);
    await requestChanges(agents, change, '3');
    const reason = 'the agent has worked on 2 review(s), as many as followUps.max allows';
    const over = await change.until('asked', ({ mails }) => mails.length === 4);
    expect(over.followUps).toMatchObject({ sent: 2, waitsFor: 'person', reason, lastReview: { id: '3' } });
    await requestChanges(agents, change, '4');
    await change.until('handled', ({ followUps }) => followUps?.lastReview?.id === '4');
    await change.signal('pullRequestChanged', merged);
    await change.result();
    expect(agents.messages.size).toBe(2);
    expect(agents.mails).toEqual(
      ['review-requested', 'follow-up-1', 'follow-up-2', 'person-needed-1'].map((each) => `${each} ada@example.com`),
    );
    expect(sent.map(({ followUp }) => followUp)).toEqual([
      { reviewer: 'ada', reason: null, said: 'Made it shorter.' },
      { reviewer: 'ada', reason: null, said: 'Made it shorter.' },
      { reviewer: 'ada', reason, said: null },
    ]);
    // All mails of a change are one thread, which the pull request's link and title make.
    expect(new Set(sent.map(({ pullRequest }) => JSON.stringify(pullRequest))).size).toBe(1);
  });

  it.concurrent('is found by reading the forge if its webhook is lost', async () => {
    const agents = await startAgents({ followUps: { max: 1 } });
    agents.outside.pullRequest.changeRequests = [{ id: '5', reviewer: 'Ada', at }];
    const change = await agents.startChange('lost');
    await handled(change, 1);
    expect(keys(agents)).toEqual(['review:5']);
  });

  it.concurrent.each([
    ['someone who was not asked', 'mallory', 'mallory'],
    ['a member of a team that was asked', 'grace', 'grace'],
  ])('by %s is ignored', async (_, reviewer, name) => {
    const { agents, change } = await inReview();
    await requestChanges(agents, change, '1', reviewer);
    const ignored = await change.until('ignored', ({ notes }) => notes.length > 0);
    expect(ignored.notes).toEqual([`a review isn't passed to the agent: ${name} wasn't asked by name to review`]);
    await requestChanges(agents, change, '2');
    await handled(change, 1);
    expect(keys(agents)).toEqual(['review:2']);
  });

  it.concurrent('by someone whose address got the mail becomes a follow-up, as at the embedded forge', async () => {
    const { agents, change } = await inReview();
    await requestChanges(agents, change, '1', 'ADA@example.com');
    await handled(change, 1);
    expect(keys(agents)).toEqual(['review:1']);
  });

  it.concurrent('stays with people without followUps', async () => {
    const agents = await startAgents();
    const change = await agents.startChange('none');
    await change.until('in review', ({ phase }) => phase === 'in-review');
    await requestChanges(agents, change, '1');
    const state = await change.until('known', ({ reviews }) => reviews.length === 1);
    expect(state).toMatchObject({ followUps: null, notes: [] });
    await change.signal('pullRequestChanged', merged);
    await change.result();
    expect(agents.messages.size).toBe(0);
  });

  it.concurrent('is sent again with the same key if the response is lost', async () => {
    const { agents, change } = await inReview();
    let attempts = 0;
    agents.outside.onMessage = () => {
      attempts++;
      if (attempts > 2) return 'accepted';
      throw ApplicationFailure.create({ type: 'Unavailable', message: '502', nonRetryable: attempts === 2 });
    };
    await requestChanges(agents, change, '1');
    await change.signal('configChanged');
    await handled(change, 1);
    expect([attempts, keys(agents)]).toEqual([3, ['review:1']]);
  });

  it.concurrent.each([
    [
      'has no message endpoint',
      null,
      'the Admin API takes no follow-ups: it has no message endpoint, or no longer the job',
    ],
    ['rejects the message', '409: archived', 'the Admin API takes no follow-up: 409: archived'],
  ])('asks a person if the Admin API %s', async (_, rejection, reason) => {
    const { agents, change } = await inReview();
    let attempts = 0;
    agents.outside.onMessage = () => {
      attempts++;
      if (attempts === 1) throw ApplicationFailure.nonRetryable('502', 'Unavailable');
      if (rejection === null) return 'unsupported';
      throw ApplicationFailure.nonRetryable(rejection, 'Rejected');
    };
    await requestChanges(agents, change, '1');
    await change.until('failing', ({ error }) => error === '502');
    await change.signal('configChanged');
    const state = await change.until('asked', ({ mails }) => mails.length === 2);
    expect(state.error).toBeNull();
    expect(state.mails[1]).toMatchObject({ event: 'person-needed-1', to: 'ada@example.com', outcome: 'sent' });
    expect(state.followUps).toMatchObject({ sent: 0, waitsFor: 'person', reason });
  });

  it.concurrent('without any text asks a person, and the operators if no reviewer has mail', async () => {
    const { agents, change } = await inReview(2, { reviewers: [] });
    agents.outside.onReview = () => null;
    await requestChanges(agents, change, '1');
    const state = await change.until('asked', ({ mails }) => mails.length === 1);
    expect(state.mails).toMatchObject([{ event: 'person-needed-1', to: 'ops@example.com' }]);
    expect(state.followUps).toMatchObject({
      waitsFor: 'person',
      reason: 'the review by ada has no text that an agent could work on',
    });
  });

  it.concurrent('that the agent fails at asks a person in the mail with the answer', async () => {
    const { agents, change } = await inReview();
    agents.outside.end = { status: 'failed', prLink: null, error: 'exit code 1' };
    await requestChanges(agents, change, '1');
    const state = await change.until('mailed', ({ mails }) => mails.length === 2);
    expect(state.mails[1]).toMatchObject({ event: 'follow-up-1', to: 'ada@example.com' });
    const reason = 'the agent failed: exit code 1';
    expect(state).toMatchObject({ phase: 'in-review', error: null, followUps: { waitsFor: 'person', reason } });
  });

  it.concurrent.each(['the merge', 'a cancel'])('is no longer worked on after %s', async (what) => {
    const { agents, change } = await inReview();
    agents.outside.end = null;
    await requestChanges(agents, change, '1');
    await change.until('revising', ({ phase }) => phase === 'revising');
    if (what === 'the merge') await change.signal('pullRequestChanged', merged);
    else await change.executeUpdate('cancel');
    await change.result();
    expect(agents.canceled).toEqual(['aj_1']);
    expect(await change.state()).toMatchObject({ phase: what === 'the merge' ? 'merged' : 'cancelled' });
  });
});

describe('a change that continues as new', () => {
  it('while the agent works on a review sends it once, and mails the answer once', async () => {
    const { agents, change } = await inReview();
    agents.outside.end = null;
    await requestChanges(agents, change, '1');
    await change.until('revising', ({ phase }) => phase === 'revising');
    const { runId } = await change.describe();
    await agents.newBuild('follow-ups');
    await requestChanges(agents, change, '2');
    await waitFor(async () => (await change.describe()).runId !== runId, { describe: 'continued as new' });
    agents.outside.end = COMPLETED;
    await handled(change, 2);
    await change.until('mailed', ({ mails }) => mails.length === 3);
    expect(keys(agents)).toEqual(['review:1', 'review:2']);
    expect(new Set([...agents.messages.keys()].map((key) => key.split(':')[0])).size).toBe(1);
  });

  it('ends what was begun if its rule has no followUps any more', async () => {
    const { agents, change } = await inReview();
    agents.outside.end = null;
    await requestChanges(agents, change, '1');
    await change.until('revising', ({ phase }) => phase === 'revising');
    const { followUps: _, ...settings } = agents.outside.settings ?? RULE_SETTINGS;
    agents.outside.settings = settings;
    const { runId } = await change.describe();
    await agents.newBuild('no-follow-ups');
    await change.signal('configChanged');
    await waitFor(async () => (await change.describe()).runId !== runId, { describe: 'continued as new' });
    agents.outside.end = COMPLETED;
    const state = await change.until('mailed', ({ mails }) => mails.length === 2);
    expect(state).toMatchObject({ phase: 'in-review', followUps: null, mails: [{}, { event: 'follow-up-1' }] });
  });
});

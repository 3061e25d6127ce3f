import type { PullRequestReading } from '../../contract/pull-request-event.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, useAgents } from './use-agents.ts';

const { startAgents, server } = useAgents('time-skipping');
const sleep = (ms: number) => server().sleep(ms);

/** The start of each change, in minutes since the first one. */
function startMinutes(startedAt: readonly string[]): number[] {
  const times = startedAt.map((at) => Date.parse(at)).sort((a, b) => a - b);
  return times.map((time) => Math.round((time - (times[0] ?? 0)) / MINUTE_MS));
}

describe('a burst of events', () => {
  it('starts one change with all of them, oldest first, after the quiet period', async () => {
    const agents = await startAgents({ quietPeriodMs: 30 * MINUTE_MS });
    for (let count = 0; count < 4; count++) {
      await agents.publish();
      await sleep(5 * MINUTE_MS);
    }
    expect(await agents.ruleState()).toMatchObject({ phase: 'collecting', pendingCount: 4, changes: [] });
    await sleep(HOUR_MS);
    const { phase, pendingCount, changes } = await agents.ruleState();
    expect({ phase, pendingCount }).toEqual({ phase: 'idle', pendingCount: 0 });
    expect(changes.map(({ workflowId }) => workflowId)).toEqual([`agent:${agents.site}:changelog:delivery-1`]);
    expect(agents.jobs).toHaveLength(1);
    expect(agents.jobs[0]?.events.map(({ title }) => title)).toEqual(['Page 1', 'Page 2', 'Page 3', 'Page 4']);
  });
});

describe('events that never stop', () => {
  // At most ten quiet periods after the first event (agent-rule/schedule.test.ts).
  it('are prompted for while more arrive, and none is lost', async () => {
    const agents = await startAgents({ quietPeriodMs: 10 * MINUTE_MS });
    for (let count = 0; count < 24; count++) {
      await agents.publish();
      await sleep(5 * MINUTE_MS);
    }
    expect(agents.jobs).toHaveLength(1);
    await sleep(HOUR_MS);
    expect(agents.jobs).toHaveLength(2);
    expect(agents.jobs.reduce((sum, { eventCount }) => sum + eventCount, 0)).toBe(24);
  });
});

describe('maxPerHour', () => {
  it('limits the changes that start in any hour, and later events wait', async () => {
    const agents = await startAgents({ quietPeriodMs: 1_000, maxPerHour: 2 });
    // Ends shortly before the next changes may start.
    for (let count = 0; count < 29; count++) {
      await agents.publish();
      await sleep(6 * MINUTE_MS);
    }
    const { phase, dueAt } = await agents.ruleState();
    expect(phase).toBe('limited');
    expect(Date.parse(dueAt ?? '')).toBeGreaterThan(await server().now());
    await sleep(2 * HOUR_MS);
    const { changes, pendingCount } = await agents.ruleState();
    expect(startMinutes(changes.map(({ startedAt }) => startedAt))).toEqual([0, 6, 60, 66, 120, 126, 180]);
    expect(pendingCount).toBe(0);
    expect(agents.jobs.reduce((sum, { eventCount }) => sum + eventCount, 0)).toBe(29);
  });
});

describe('a delivery', () => {
  it('prompts nothing if it is resent within its window, and prompts again after that', async () => {
    const agents = await startAgents();
    const hash = { id: 'hash-of-body', dedupeMs: HOUR_MS };
    await agents.publish(hash);
    await sleep(MINUTE_MS);
    await agents.publish(hash);
    await sleep(2 * HOUR_MS);
    expect(agents.jobs).toHaveLength(1);
    await agents.publish(hash);
    await sleep(MINUTE_MS);
    expect(agents.jobs).toHaveLength(2);
    const [second, first] = (await agents.ruleState()).changes.map(({ workflowId }) => workflowId);
    expect(first).toBe(`agent:${agents.site}:changelog:hash-of-body`);
    expect(second).toMatch(/:hash-of-body~[\w.:-]+$/);
  });
});

describe('a pull request that is closed', () => {
  it('is followed again if it is reopened, and its merge prompts nothing', async () => {
    const agents = await startAgents({ quietPeriodMs: 60_000, expireAfterMs: 5.5 * HOUR_MS });
    const become = async (state: PullRequestReading['state'], mergeCommitSha: string | null = null) => {
      agents.outside.pullRequest = { ...agents.outside.pullRequest, state, mergeCommitSha };
      await sleep(2 * HOUR_MS);
    };
    const ends = async () => (await agents.ruleState()).changes.map(({ end }) => end?.phase);
    await agents.publish();
    await agents.change('delivery-1').until('in review', ({ phase }) => phase === 'in-review');
    await become('closed');
    expect(await ends()).toEqual(['closed']);
    await become('open');
    expect(await ends()).toEqual([undefined]);
    // Without the reopening, the review would expire now.
    await sleep(2 * HOUR_MS);
    expect((await agents.change('delivery-1').state()).phase).toBe('in-review');
    await become('merged', 'c0ffee');
    expect(await ends()).toEqual(['merged']);
    await agents.publish({ eventId: 'c0ffee' });
    await sleep(HOUR_MS);
    expect(agents.jobs).toHaveLength(1);
  });

  it('is followed until its review would have expired', async () => {
    const agents = await startAgents({ expireAfterMs: DAY_MS });
    const change = await agents.startChange('closed');
    await change.until('in review', ({ phase }) => phase === 'in-review');
    agents.outside.pullRequest = { ...agents.outside.pullRequest, state: 'closed' };
    await change.result();
    expect((await change.state()).phase).toBe('closed');
  });
});

// agent-rule/transitions.test.ts covers which events a rule excludes.
describe('the merge of a change', () => {
  it('is signaled to its rule, and prompts nothing', async () => {
    const agents = await startAgents({ quietPeriodMs: 60_000 });
    await agents.publish();
    await sleep(2 * MINUTE_MS);
    await agents.change('delivery-1').until('in review', ({ phase }) => phase === 'in-review');
    agents.outside.pullRequest = { ...agents.outside.pullRequest, state: 'merged', mergeCommitSha: 'c0ffee' };
    await agents.change('delivery-1').result();
    await agents.publish({ eventId: 'c0ffee' });
    await sleep(HOUR_MS);
    expect(agents.jobs).toHaveLength(1);
  });
});

describe('two rules of a site', () => {
  it('both get a signal of a merge, so that neither reacts to the changes of the other', async () => {
    const agents = await startAgents({ quietPeriodMs: 30_000 });
    for (const rule of ['changelog', 'glossary']) await agents.publish({ agentsOwn: true }, rule);
    agents.configure({ rules: ['changelog', 'glossary'] });
    const change = await agents.startChange('merged');
    await change.until('in review', ({ phase }) => phase === 'in-review');
    agents.outside.pullRequest = { ...agents.outside.pullRequest, state: 'merged', mergeCommitSha: 'c0ffee' };
    await change.result();
    await agents.publish({ eventId: 'c0ffee' }, 'glossary');
    await sleep(HOUR_MS);
    expect(agents.jobs).toHaveLength(1);
    // The time-skipping server can't cancel the timers of a pull request that is merged at once.
    agents.outside.pullRequest = { ...agents.outside.pullRequest, state: 'open', mergeCommitSha: null };
    await agents.publish({ eventId: 'cafe' }, 'glossary');
    await sleep(HOUR_MS);
    expect(agents.jobs.map(({ rule }) => rule)).toEqual(['changelog', 'glossary']);
  });
});

describe('a change that already exists for a delivery', () => {
  it('counts as started, unless another publish may have the same delivery id', async () => {
    const agents = await startAgents();
    await agents.startChange('taken');
    await agents.startChange('hash-of-body');
    await agents.publish({ id: 'taken' });
    await agents.publish({ id: 'hash-of-body', dedupeMs: 60_000 });
    await sleep(MINUTE_MS);
    expect(agents.jobs).toHaveLength(3);
    const { phase, changes } = await agents.ruleState();
    expect(phase).toBe('idle');
    expect(changes.map(({ workflowId }) => workflowId)).toEqual([expect.stringMatching(/:hash-of-body~/)]);
  });

  it('does not affect other collected events', async () => {
    const agents = await startAgents();
    await agents.startChange('taken');
    await agents.startChange('taken-too');
    await agents.publishAll([{ id: 'taken' }, { id: 'taken-too' }, { id: 'new', title: 'New' }, { title: 'Newer' }]);
    await sleep(MINUTE_MS);
    expect(agents.jobs).toHaveLength(3);
    expect(agents.jobs[2]).toMatchObject({ eventCount: 2, events: [{ title: 'New' }, { title: 'Newer' }] });
    const { changes } = await agents.ruleState();
    expect(changes.map(({ workflowId }) => workflowId)).toEqual([agents.change('new').workflowId]);
  });
});

describe('an operator', () => {
  it('can prompt with the newest event again, any number of times, if no event waits', async () => {
    const agents = await startAgents({ quietPeriodMs: 30 * MINUTE_MS });
    await agents.publish();
    await agents.publish();
    const again = () => agents.rule.executeUpdate('runAgain', { args: [{ actor: 'ada' }] });
    await expect(again()).rejects.toThrow();
    await sleep(HOUR_MS);
    expect(await again()).toMatchObject({ pendingCount: 1, newest: { title: 'Page 2' } });
    await sleep(MINUTE_MS);
    await again();
    await sleep(MINUTE_MS);
    expect(agents.jobs.map(({ events }) => events.map(({ title }) => title))).toEqual([
      ['Page 1', 'Page 2'],
      ['Page 2'],
      ['Page 2'],
    ]);
    const ids = (await agents.ruleState()).changes.map(({ workflowId }) => workflowId);
    expect(ids[0]).toMatch(/:delivery-2~[\w.:-]+$/);
    expect(new Set(ids).size).toBe(3);
  });
});

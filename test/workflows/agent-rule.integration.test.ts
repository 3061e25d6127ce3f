import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentRuleState } from '../../contract/agent-state.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import type { AgentBench } from './agent-bench.ts';
import { runsOf, useAgentBenches } from './agent-benches.ts';

const { bench, server } = useAgentBenches();

describe('a rule that continues as new', () => {
  it('while events pour in prompts for each of them once, and still knows a resend', async () => {
    const rig = await bench({ quietPeriodMs: 300, maxPerHour: 1_000, mail: false, forge: false });
    rig.outside.end = { status: 'completed', prLink: null, error: null };
    const runCount = async () => (await runsOf(server().client, rig.rule.workflowId)).length;
    let total = 0;
    // A busy machine takes many of them at a time, which makes a shorter history: then it takes more of them.
    while (total < 600 || (total < 3_000 && (await runCount()) === 1)) {
      await Promise.all([0, 1, 2, 3].map((index) => rig.publish({ id: `d-${total + index}` })));
      await sleep(total % 40 === 0 ? 500 : 10);
      total += 4;
    }
    const prompted = () => rig.jobs.reduce((sum, { eventCount }) => sum + eventCount, 0);
    await waitFor(() => prompted() >= total, { describe: 'prompted for all' });
    await waitFor(async () => (await rig.ruleState()).phase === 'idle', { describe: 'idle' });
    await sleep(1_000);
    expect(await runCount()).toBeGreaterThan(1);
    expect(prompted()).toBe(total);
    const titles = rig.jobs.flatMap(({ events }) => events.map(({ title }) => title));
    expect(new Set(titles).size).toBe(total);
    await rig.publish({ id: 'd-0' });
    await sleep(1_000);
    expect(await rig.ruleState()).toMatchObject({ phase: 'idle', pendingCount: 0 });
  });

  it('for a new build keeps what waits, who unsubscribed and what it started', async () => {
    const rig = await bench({ quietPeriodMs: 200 });
    await rig.publish({ id: 'first' });
    await rig.rule.signal('unsubscribed', { address: 'bob@example.com' });
    await waitFor(async () => (await rig.ruleState()).changes.length > 0, { describe: 'started the first change' });
    if (rig.outside.settings) rig.outside.settings = { ...rig.outside.settings, build: 'two', quietPeriodMs: 30_000 };
    const { runId } = await rig.rule.describe();
    // Without a worker all three come in one turn, so that the old quiet period can't end between them.
    await rig.stopWorker();
    await rig.publish({ id: 'second' });
    await rig.rule.signal('configChanged');
    await rig.publish({ id: 'third' });
    await rig.startWorker();
    await waitFor(async () => (await rig.rule.describe()).runId !== runId, { describe: 'continued as new' });
    expect(await rig.ruleState()).toMatchObject({
      phase: 'collecting',
      pendingCount: 2,
      changes: [{ workflowId: rig.change('first').workflowId }],
      unsubscribed: ['bob@example.com'],
    });
    await rig.change('second').until('prompted', ({ jobId }) => jobId !== null);
    expect(rig.jobs.map(({ eventCount }) => eventCount)).toEqual([1, 2]);
  });
});

describe('a worker that is stopped', () => {
  it('while events are collected leaves them to the next one', async () => {
    const rig = await bench({ quietPeriodMs: 10_000 });
    await rig.publish({ id: 'before' });
    await waitFor(async () => (await rig.ruleState()).pendingCount === 1, { describe: 'collected the first' });
    await rig.stopWorker();
    await rig.publish({ id: 'meanwhile' });
    await rig.startWorker();
    await rig.change('before').until('prompted', ({ jobId }) => jobId !== null);
    expect(rig.jobs.map(({ eventCount }) => eventCount)).toEqual([2]);
  });
});

describe('a change that was started for a delivery already', () => {
  it('counts as accepted, unless the delivery’s id may stand for another publish', async () => {
    const rig = await bench();
    await rig.startChange('taken');
    await rig.startChange('hash-of-body');
    await rig.publish({ id: 'taken' });
    const isOver = async () => rig.jobs.length === 2 && (await rig.ruleState()).phase === 'idle';
    await waitFor(isOver, { describe: 'accepted the delivery' });
    expect((await rig.ruleState()).changes).toEqual([]);
    await rig.publish({ id: 'hash-of-body', dedupeMs: 60_000 });
    await waitFor(() => rig.jobs.length === 3, { describe: 'prompted once more' });
    const changes = await startedChanges(rig);
    expect(changes.map(({ workflowId }) => workflowId)).toEqual([expect.stringMatching(/:hash-of-body~/)]);
  });

  it('takes nothing else with it of what was collected', async () => {
    const rig = await bench();
    await rig.startChange('taken');
    await rig.startChange('taken-too');
    await rig.publishAll([{ id: 'taken' }, { id: 'taken-too' }, { id: 'new', title: 'New' }, { title: 'Newer' }]);
    await rig.change('new').until('prompted', ({ jobId }) => jobId !== null);
    const prompted = rig.jobs.filter(({ events }) => events.some(({ title }) => title === 'New'));
    expect(prompted).toMatchObject([{ eventCount: 2, events: [{ title: 'New' }, { title: 'Newer' }] }]);
    const changes = await startedChanges(rig);
    expect(changes.map(({ workflowId }) => workflowId)).toEqual([rig.change('new').workflowId]);
  });
});

/** A change may have its job before the rule hears that it has started. */
async function startedChanges(rig: AgentBench): Promise<AgentRuleState['changes']> {
  return await waitFor(
    async () => {
      const { changes } = await rig.ruleState();
      return changes.length > 0 && changes;
    },
    { describe: 'heard that a change has started' },
  );
}

import { setTimeout as sleep } from 'node:timers/promises';
import { runsOf, useAgentBenches } from './agent-benches.ts';

const { bench, server } = useAgentBenches();

describe('a rule that continues as new', () => {
  it('while events pour in prompts for each of them once, and still knows a resend', async () => {
    const rig = await bench({ quietPeriodMs: 300, maxPerHour: 1_000, mail: false, forge: false });
    rig.outside.end = { status: 'completed', prLink: null, error: null };
    const total = 600;
    for (let count = 0; count < total; count += 4) {
      await Promise.all([0, 1, 2, 3].map((index) => rig.publish({ id: `d-${count + index}` })));
      await sleep(count % 40 === 0 ? 500 : 10);
    }
    for (let tries = 0; tries < 300 && (await rig.ruleState()).phase !== 'idle'; tries++) await sleep(100);
    await sleep(1_000);
    const runs = await runsOf(server().client, rig.rule.workflowId);
    expect(runs.length).toBeGreaterThan(1);
    expect(rig.jobs.reduce((sum, { eventCount }) => sum + eventCount, 0)).toBe(total);
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
    for (let tries = 0; tries < 100 && (await rig.ruleState()).changes.length === 0; tries++) await sleep(100);
    if (rig.outside.settings) rig.outside.settings = { ...rig.outside.settings, build: 'two', quietPeriodMs: 4_000 };
    const { runId } = await rig.rule.describe();
    await rig.publish({ id: 'second' });
    await rig.rule.signal('configChanged');
    await rig.publish({ id: 'third' });
    for (let tries = 0; tries < 100 && (await rig.rule.describe()).runId === runId; tries++) await sleep(100);
    expect((await rig.rule.describe()).runId).not.toBe(runId);
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
    const rig = await bench({ quietPeriodMs: 1_000 });
    await rig.publish({ id: 'before' });
    await sleep(300);
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
    const waits = async () => rig.jobs.length < 2 || (await rig.ruleState()).phase !== 'idle';
    for (let tries = 0; tries < 300 && (await waits()); tries++) await sleep(100);
    expect(await rig.ruleState()).toMatchObject({ phase: 'idle', changes: [] });
    await rig.publish({ id: 'hash-of-body', dedupeMs: 60_000 });
    for (let tries = 0; tries < 100 && rig.jobs.length < 3; tries++) await sleep(100);
    const { changes } = await rig.ruleState();
    expect(changes.map(({ workflowId }) => workflowId)).toEqual([expect.stringMatching(/:hash-of-body~/)]);
  });
});

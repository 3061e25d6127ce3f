import { DAY_MS, HOUR_MS, MINUTE_MS, useSkippedTime } from './agent-days.ts';

const { bench, env } = useSkippedTime();

/** When each change began, in minutes since the first one. */
function minutes(startedAt: readonly string[]): number[] {
  const times = startedAt.map((at) => Date.parse(at)).sort((a, b) => a - b);
  return times.map((time) => Math.round((time - (times[0] ?? 0)) / MINUTE_MS));
}

describe('a burst of events', () => {
  it('makes one change with all of them, oldest first, once it is over', async () => {
    const rig = await bench({ quietPeriodMs: 30_000 });
    for (let count = 0; count < 12; count++) {
      await rig.publish();
      await env().sleep(5_000);
    }
    expect(await rig.ruleState()).toMatchObject({ phase: 'collecting', pendingCount: 12, changes: [] });
    await env().sleep(30_000);
    const { phase, pendingCount, changes } = await rig.ruleState();
    expect({ phase, pendingCount }).toEqual({ phase: 'idle', pendingCount: 0 });
    expect(changes.map(({ workflowId }) => workflowId)).toEqual([`agent:${rig.site}:changelog:delivery-1`]);
    expect(rig.jobs).toHaveLength(1);
    expect(rig.jobs[0]?.events.map(({ title }) => title)).toEqual(
      Array.from({ length: 12 }, (_, index) => `Page ${index + 1}`),
    );
  });
});

describe('events that never stop', () => {
  it('are prompted after ten quiet periods, however steadily they come, and none is lost', async () => {
    const rig = await bench({ quietPeriodMs: 30_000, maxPerHour: 100 });
    for (let count = 0; count < 60; count++) {
      await rig.publish();
      await env().sleep(15_000);
    }
    await env().sleep(MINUTE_MS);
    expect(rig.jobs.map(({ eventCount }) => eventCount).every((count) => count >= 18 && count <= 21)).toBe(true);
    expect(rig.jobs.reduce((sum, { eventCount }) => sum + eventCount, 0)).toBe(60);
  });
});

describe('maxPerHour', () => {
  it('lets no more changes start in any hour; what is collected meanwhile waits for its turn', async () => {
    const rig = await bench({ quietPeriodMs: 1_000, maxPerHour: 2 });
    // Until shortly before the next ones may start.
    for (let count = 0; count < 29; count++) {
      await rig.publish();
      await env().sleep(6 * MINUTE_MS);
    }
    const { phase, dueAt } = await rig.ruleState();
    expect(phase).toBe('limited');
    expect(Date.parse(dueAt ?? '')).toBeGreaterThan(await env().currentTimeMs());
    await env().sleep(2 * HOUR_MS);
    const { changes, pendingCount } = await rig.ruleState();
    expect(minutes(changes.map(({ startedAt }) => startedAt))).toEqual([0, 6, 60, 66, 120, 126, 180]);
    expect(pendingCount).toBe(0);
    expect(rig.jobs.reduce((sum, { eventCount }) => sum + eventCount, 0)).toBe(29);
  });
});

describe('a delivery', () => {
  it('that is resent within its window prompts nothing, and after it prompts again', async () => {
    const rig = await bench();
    await rig.publish({ id: 'hash-of-body', dedupeMs: MINUTE_MS });
    await env().sleep(10_000);
    await rig.publish({ id: 'hash-of-body', dedupeMs: MINUTE_MS });
    await env().sleep(10 * MINUTE_MS);
    expect(rig.jobs).toHaveLength(1);
    await rig.publish({ id: 'hash-of-body', dedupeMs: MINUTE_MS });
    await env().sleep(10_000);
    expect(rig.jobs).toHaveLength(2);
    const [second, first] = (await rig.ruleState()).changes.map(({ workflowId }) => workflowId);
    expect(first).toBe(`agent:${rig.site}:changelog:hash-of-body`);
    expect(second).toMatch(/:hash-of-body~[\w.:-]+$/);
  });

  it('that was prompted for before the rule forgot everything prompts nothing', async () => {
    const rig = await bench();
    await rig.publish({ id: 'once' });
    await env().sleep(10_000);
    await rig.rule.terminate();
    await rig.publish({ id: 'once' });
    await env().sleep(10_000);
    expect(rig.jobs).toHaveLength(1);
    expect(await rig.ruleState()).toMatchObject({ phase: 'idle', pendingCount: 0, changes: [] });
  });
});

describe("an agent's own work", () => {
  it('prompts nothing: not a push that carries only that, nor a merge of which the rule was told before or after', async () => {
    const rig = await bench({ quietPeriodMs: 30_000 });
    await rig.publish({ agentsOwn: true });
    await rig.publish({ eventId: 'merged-later' });
    await rig.rule.signal('ownMerge', { sha: 'merged-later' });
    await rig.rule.signal('ownMerge', { sha: 'merged-before' });
    await rig.publish({ eventId: 'merged-before' });
    await env().sleep(HOUR_MS);
    expect(rig.jobs).toEqual([]);
    await rig.publish({ id: 'the editor’s' });
    await env().sleep(HOUR_MS);
    expect(rig.jobs.map(({ eventCount }) => eventCount)).toEqual([1]);
  });

  it('that was merged is made known by the change itself', async () => {
    const rig = await bench({ quietPeriodMs: 60_000 });
    await rig.publish();
    await env().sleep(2 * MINUTE_MS);
    await rig.change('delivery-1').until('in review', ({ phase }) => phase === 'in-review');
    rig.outside.pullRequest = { ...rig.outside.pullRequest, state: 'merged', mergeCommitSha: 'c0ffee' };
    await rig.change('delivery-1').result();
    await rig.publish({ eventId: 'c0ffee' });
    await env().sleep(HOUR_MS);
    expect(rig.jobs).toHaveLength(1);
  });
});

describe('what a rule keeps', () => {
  it('tells who unsubscribed, in lower case, each once', async () => {
    const rig = await bench();
    await rig.publish();
    for (const address of ['Ada@Example.com', 'bob@example.com', ' ada@example.com ', '']) {
      await rig.rule.signal('unsubscribed', { address });
    }
    await rig.rule.signal('unsubscribed', 'of another shape');
    expect((await rig.ruleState()).unsubscribed).toEqual(['bob@example.com', 'ada@example.com']);
  });
});

describe('a rule that was taken out of the configuration', () => {
  it('ends, and the change that it started goes on without it and without mail', async () => {
    const rig = await bench({ remindAfterMs: [DAY_MS] });
    await rig.publish();
    await env().sleep(10_000);
    const change = rig.change('delivery-1');
    rig.outside.settings = null;
    await rig.rule.signal('configChanged');
    await change.signal('configChanged');
    await expect(rig.rule.result()).resolves.toBeUndefined();
    await env().sleep(3 * DAY_MS);
    expect(await change.state()).toMatchObject({ phase: 'in-review', nextReminderAt: null });
    expect(rig.mails).toEqual(['review-requested ada@example.com']);
  });
});

describe('a rule that was taken out and put back', () => {
  it('still knows who wanted no more mail, and forgot what it had collected', async () => {
    const rig = await bench({ quietPeriodMs: 30_000 });
    await rig.publish({ id: 'before' });
    await rig.rule.signal('unsubscribed', { address: 'ada@example.com' });
    const { settings } = rig.outside;
    rig.outside.settings = null;
    await rig.rule.signal('configChanged');
    await env().sleep(60_000);
    await rig.rule.signal('configChanged');
    await env().sleep(60_000);
    expect(await rig.ruleState()).toMatchObject({ pendingCount: 0, unsubscribed: ['ada@example.com'] });
    rig.outside.settings = settings;
    await rig.publish({ id: 'after' });
    await env().sleep(60_000);
    expect(rig.jobs.map(({ eventCount }) => eventCount)).toEqual([1]);
    expect((await rig.ruleState()).unsubscribed).toEqual(['ada@example.com']);
  });
});

describe('two rules of a site', () => {
  it('are both told of a merge, so that they never answer to each other', async () => {
    const rig = await bench({ quietPeriodMs: 30_000 });
    for (const rule of ['changelog', 'glossary']) await rig.publish({ agentsOwn: true }, rule);
    if (rig.outside.settings) rig.outside.settings = { ...rig.outside.settings, rules: ['changelog', 'glossary'] };
    const change = await rig.startChange('merged');
    await change.until('in review', ({ phase }) => phase === 'in-review');
    rig.outside.pullRequest = { ...rig.outside.pullRequest, state: 'merged', mergeCommitSha: 'c0ffee' };
    await change.result();
    await rig.publish({ eventId: 'c0ffee' }, 'glossary');
    await env().sleep(HOUR_MS);
    expect(rig.jobs).toHaveLength(1);
    // This server can't cancel what is planned for a pull request that is merged at once.
    rig.outside.pullRequest = { ...rig.outside.pullRequest, state: 'open', mergeCommitSha: null };
    await rig.publish({ eventId: 'cafe' }, 'glossary');
    await env().sleep(HOUR_MS);
    expect(rig.jobs.map(({ rule }) => rule)).toEqual(['changelog', 'glossary']);
  });
});

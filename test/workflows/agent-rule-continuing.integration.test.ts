import { waitFor } from '../helpers/system/wait-for.ts';
import { HOUR_MS, useAgents } from './use-agents.ts';

const { startAgents } = useAgents('dev-server');

// Uses the dev server, because a run that ends during a call can stop the time-skipping server from skipping.
describe('a rule that continues as new', () => {
  it('while very many events arrive prompts for each of them once, and still recognizes a resend', async () => {
    const agents = await startAgents({ quietPeriodMs: 200, maxPerHour: 1_000, mail: false, forge: false });
    agents.outside.end = { status: 'completed', prLink: null, error: null };
    const prompted = (): number => agents.jobs.reduce((sum, { eventCount }) => sum + eventCount, 0);
    const total = 201;
    await agents.publish({ id: 'first' });
    await waitFor(() => prompted() === 1, { describe: 'prompted by the first build' });
    const { runId } = await agents.rule.describe();
    let building: Promise<void> | undefined;
    for (let count = 1; count < total; count += 10) {
      if (count === 71) building = agents.newBuild('many');
      // The last ones wake the workflow in the new build.
      if (count === total - 10) await building;
      await Promise.all(Array.from({ length: 10 }, (_, index) => agents.publish({ id: `d-${count + index}` })));
    }
    await waitFor(async () => (await agents.rule.describe()).runId !== runId, { describe: 'continued as new' });
    const allPrompted = () => {
      if (prompted() >= total) return true;
      throw new Error(`Prompted for ${prompted()} of ${total} events`);
    };
    await waitFor(allPrompted, { describe: 'prompted for all events' });
    expect(prompted()).toBe(total);
    await agents.publishAll([{ id: 'first' }, { id: 'new' }]);
    await waitFor(() => prompted() > total, { describe: 'prompted for the new event' });
    expect(prompted()).toBe(total + 1);
  });

  it('for a new build keeps waiting events, unsubscribed addresses and its list of changes', async () => {
    const agents = await startAgents({ quietPeriodMs: 200 });
    await agents.publish({ id: 'first' });
    await agents.rule.signal('unsubscribed', { address: 'bob@example.com' });
    await waitFor(() => agents.jobs.length === 1, { describe: 'prompted for the first event' });
    const { runId } = await agents.rule.describe();
    agents.configure({ quietPeriodMs: HOUR_MS });
    await agents.publish({ id: 'second' });
    await agents.newBuild('two');
    await agents.publish({ id: 'third' });
    await waitFor(async () => (await agents.rule.describe()).runId !== runId, { describe: 'continued as new' });
    expect(await agents.ruleState()).toMatchObject({
      phase: 'collecting',
      pendingCount: 2,
      changes: [{ workflowId: agents.change('first').workflowId }],
      unsubscribed: ['bob@example.com'],
    });
    agents.configure({ quietPeriodMs: 200 });
    await agents.rule.signal('configChanged');
    await waitFor(() => agents.jobs.length === 2, { describe: 'prompted for the others' });
    expect(agents.jobs.map(({ eventCount }) => eventCount)).toEqual([1, 2]);
  });
});

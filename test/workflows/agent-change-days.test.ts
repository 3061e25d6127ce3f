import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { RuleSettings } from '../../activities/agents/read-rule-settings.ts';
import { startTimeSkipping } from '../helpers/temporal.ts';
import { type AgentBench, startAgentBench } from './agent-bench.ts';

const DAY_MS = 86_400_000;

let env: TestWorkflowEnvironment;
const benches: AgentBench[] = [];

beforeAll(async () => {
  env = await startTimeSkipping();
});

afterEach(async () => {
  await Promise.all(benches.splice(0).map((each) => each.close()));
});

afterAll(async () => {
  await env.teardown();
});

async function bench(settings: Partial<RuleSettings> = {}): Promise<AgentBench> {
  const { client, nativeConnection } = env;
  const clock = (): Promise<number> => env.currentTimeMs();
  const made = await startAgentBench({ client, connection: nativeConnection, clock, settings });
  benches.push(made);
  return made;
}

describe('thirty days without a review', () => {
  it('bring exactly the configured reminders and an orderly end', async () => {
    const rig = await bench({ remindAfterMs: [2 * DAY_MS, 5 * DAY_MS, 20 * DAY_MS] });
    const change = await rig.startChange('silent');
    await change.result();
    const state = await change.state();
    expect(state).toMatchObject({ phase: 'expired', error: null, nextReminderAt: null });
    expect(rig.mails).toEqual([
      'review-requested ada@example.com',
      'reminder-1 ada@example.com',
      'reminder-2 ada@example.com',
      'reminder-3 ada@example.com',
    ]);
    const sinceMs = Date.parse(state.expiresAt ?? '') - 30 * DAY_MS;
    const days = state.mails.map(({ at }) => Math.round((Date.parse(at) - sinceMs) / (DAY_MS / 100)) / 100);
    expect(days).toEqual([0, 2, 5, 20]);
    const history = await change.fetchHistory();
    expect(history.events?.length).toBeLessThan(200);
  });
});
